// PyTorch's 388 calls of scaled_dot_product_attention in data/pytorch/, as a user would put them to `attn run` and `attn check`.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "io/tensor_file.h"
#include "report/json.h"
#include "support/sanitized.h"
#include "user_tensors/attention_call.h"

namespace attn {

struct PytorchCall {
  std::string name;
  CallOptions options;
  CallInputs inputs;
  Tensor output;  // what the call gave
  Tensor truth;   // PyTorch's plain implementation in float64, on the same inputs
};

// What a user would say for this call.
inline CallOptions options_of_pytorch(const Json& call, const std::string& file) {
  CallOptions options;
  options.q = file + "#q";
  options.k = file + "#k";
  options.v = file + "#v";
  if (call["mask"]) options.mask = file + "#mask." + call["name"].get<std::string>();
  if (!call["causal"].is_null()) {
    options.causal = true;
    options.align = call["causal"] == "top-left" ? Alignment::top_left : Alignment::bottom_right;
  }
  if (!call["scale"].is_null()) options.scale = call["scale"].get<double>();
  return options;
}

// All 388; with sanitizers every fourth.
template <class Body>
void for_each_pytorch_call(const Body& body) {
  const std::string folder = ATTN_DATA_DIR "/pytorch/";
  const Json all = Json::parse(std::ifstream(folder + "cases.json"));
  std::size_t calls = 0;
  for (const Json& file : all["files"]) {
    const std::string path = folder + file["file"].get<std::string>();
    for (const Json& call : file["calls"]) {
      ++calls;
      if (sanitized && calls % 4 != 0) continue;
      const std::string name = call["name"];
      const CallOptions options = options_of_pytorch(call, path);
      INFO(path << " " << name);
      body(PytorchCall{name, options, read_inputs(options), read_tensor(path + "#out." + name), read_tensor(path + "#out_f64." + name)});
    }
  }
  CHECK(calls == 388);
}

}  // namespace attn
