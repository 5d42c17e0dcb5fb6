// Queries, keys and values of a real model on a real sentence (data/sentence/, built in): all six layers and twelve heads of
// all-MiniLM-L6-v2 on "The cat sat on the mat because it was tired".
#pragma once

#include <string>
#include <vector>

#include "attention/problem.h"

namespace attn {

struct Sentence {
  std::string text;
  std::vector<std::string> tokens;  // seq of them, "[CLS]" first and "[SEP]" last
  std::string model;                // its name and licence
  // (layers, heads, seq, head_dim): each layer stands where a tensor has its batch. Nothing was masked; the scale is 1 / sqrt(head_dim).
  TensorView<const float> q, k, v;

  Index layers() const { return q.batch; }
  Index heads() const { return q.heads; }
};

// Read from the program once; lives as long as it does.
const Sentence& sentence();

}  // namespace attn
