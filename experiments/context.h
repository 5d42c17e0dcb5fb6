// The context of a JSON document: what machine, what build, what call.
#pragma once

#include "report/report.h"

namespace attn {

// Names as in Google Benchmark where it has them; null where a fact cannot be seen. See measure/machine_facts.h.
Json json_context(int argc, const char* const* argv);

}  // namespace attn
