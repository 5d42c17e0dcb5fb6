// The program's JSON: objects keep the order of their members.
#pragma once

#include <nlohmann/json.hpp>

// Its members are compiled once, in json.cpp, instead of in every file that uses it.
extern template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace attn {

using Json = nlohmann::ordered_json;

}  // namespace attn
