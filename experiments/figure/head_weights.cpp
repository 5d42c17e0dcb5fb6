#include "figure/head_weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "attention/standard.h"
#include "io/read_file.h"
#include "io/tensor_file.h"
#include "machine/error.h"
#include "options/number_list.h"
#include "report/json.h"
#include "sentence.h"
#include "user_tensors/arrangement.h"
#include "worked_example.h"

namespace attn {
namespace {

std::vector<std::string> numbered(Index count) {
  std::vector<std::string> names;
  for (Index i = 0; i < count; ++i) names.push_back(std::to_string(i));
  return names;
}

// A token a line; the last line need not end.
std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const bool carriage = end > at && text[end - 1] == '\r';
    lines.push_back(text.substr(at, end - at - (carriage ? 1 : 0)));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> read_tokens(const std::string& path) {
  const std::string text = read_file(path);
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool opens = first != std::string::npos && (text[first] == '[' || text[first] == '{');
  Json json = opens ? Json::parse(text, nullptr, false) : Json();
  if (json.is_object() && json.contains("tokens")) json = Json(json["tokens"]);
  // "[CLS]" opens like a list, and is the first line of a text.
  if (!json.is_array()) return lines_of(text);
  std::vector<std::string> tokens;
  for (const Json& token : json) {
    if (!token.is_string()) throw UsageError(fmt::format("{}: tokens: expected a list of strings, found {}", path, token.dump()));
    tokens.push_back(token.get<std::string>());
  }
  return tokens;
}

// Weights are from 0 to 1; 16-bit types may round a sum's last bits beyond.
void check_weights(const std::string& name, const Matrix<double>& values) {
  constexpr double most = 1.01;
  for (Index at = 0; at < values.size(); ++at) {
    const double value = values.data()[at];
    if (value >= 0 && value <= most) continue;
    throw UsageError(
        fmt::format("{}: row {}, key {}: expected a weight from 0 to 1, found {}", name, at / values.cols(), at % values.cols(), value));
  }
}

}  // namespace

MatrixView<const double> HeadWeights::head(Index layer, Index head) const {
  const auto rows = static_cast<Index>(queries.size());
  return values.view().block((layer * heads + head) * rows, 0, rows, values.cols());
}

HeadWeights document_1_weights(bool causal) {
  const ExampleSizes sizes = document_sizes(1);
  return {"document 1", 1, 1, numbered(sizes.seq), numbered(sizes.seq), run_example(draw_example(1, sizes, Seed(0)), causal).weights};
}

HeadWeights sentence_weights() {
  const Sentence& from = sentence();
  const auto& [data, layers, heads, seq, dim, batch_stride, head_stride, row_stride] = from.q;
  Tensor weights(Dtype::f32, {layers, heads, seq, seq});
  Tensor unused(Dtype::f32, {layers, heads, seq, dim});
  StandardOutputs<float> outputs;
  outputs.weights = weights.as<float>().data();
  const auto o = TensorView<float>::hnd(unused.as<float>().data(), layers, heads, seq, dim);
  standard_attention<float>({from.q, from.k, from.v, o}, {}, outputs);
  return {from.model.substr(0, from.model.find(' ')), layers, heads, from.tokens, from.tokens, weights.to_matrix<double>()};
}

HeadWeights weights_from_file(const std::string& weights, const std::string& tokens) {
  const NamedTensor file{weights, read_tensor(weights)};
  std::vector<Index> shape = file.tensor.shape();
  const bool fits = shape.size() >= 2 && shape.size() <= 4 && file.tensor.size() > 0 && is_floating_point(file.tensor.dtype());
  if (!fits) {
    throw UsageError(
        fmt::format("{}: expected floating-point weights (queries, keys), (heads, …) or (layers, heads, …), found {} of {} dimensions",
                    named_shape(file), dtype_name(file.tensor.dtype()), file.tensor.shape().size()));
  }
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  if (std::max(shape[2], shape[3]) > most_tokens) {
    throw UsageError(fmt::format("{}: expected at most {} queries and keys for a picture", named_shape(file), most_tokens));
  }
  HeadWeights result{weights, shape[0], shape[1], numbered(shape[2]), numbered(shape[3]), file.tensor.to_matrix<double>()};
  check_weights(weights, result.values);
  if (tokens.empty()) return result;
  result.keys = read_tokens(tokens);
  if (static_cast<Index>(result.keys.size()) != shape[3]) {
    throw UsageError(
        fmt::format("{} with {}: tokens: expected {}, one a key, found {}", tokens, named_shape(file), shape[3], result.keys.size()));
  }
  if (shape[2] == shape[3]) result.queries = result.keys;
  return result;
}

Index find_token(const std::string& option, const std::string& name, const std::vector<std::string>& tokens) {
  const auto found = std::find(tokens.begin(), tokens.end(), name);
  if (found != tokens.end()) {
    const auto again = std::find(found + 1, tokens.end(), name);
    if (again == tokens.end()) return found - tokens.begin();
    throw UsageError(fmt::format("{}: '{}': expected a token that occurs once, or a position, found it at {} and {}", option, name,
                                 found - tokens.begin(), again - tokens.begin()));
  }
  if (name.find_first_not_of("0123456789") != std::string::npos || name.empty()) {
    throw UsageError(fmt::format("{}: expected one of the tokens or a position, found '{}'", option, name));
  }
  const Index position = parse_size(option, name, 0);
  if (position < static_cast<Index>(tokens.size())) return position;
  throw UsageError(fmt::format("{}: expected a position below {}, found {}", option, tokens.size(), name));
}

HeadPlace strongest_head(const HeadWeights& weights, Index query, Index key, std::optional<Index> layer, std::optional<Index> head) {
  HeadPlace best{layer.value_or(0), head.value_or(0)};
  for (Index l = layer.value_or(0); l < (layer ? *layer + 1 : weights.layers); ++l) {
    for (Index h = head.value_or(0); h < (head ? *head + 1 : weights.heads); ++h) {
      if (weights.head(l, h)(query, key) > weights.head(best.layer, best.head)(query, key)) best = {l, h};
    }
  }
  return best;
}

}  // namespace attn
