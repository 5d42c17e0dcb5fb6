// Attention weights of one or many heads, with the tokens they are of: what a figure is taken from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "matrix/matrix.h"

namespace attn {

struct HeadWeights {
  std::string source;  // for titles
  Index layers = 1, heads = 1;
  std::vector<std::string> queries, keys;  // their tokens
  Matrix<double> values;                   // (layers * heads * queries, keys)

  // (queries, keys) of one head.
  MatrixView<const double> head(Index layer, Index head) const;
};

// Document 1's worked example, seed 0, without or with a causal mask.
HeadWeights document_1_weights(bool causal);

// softmax(q k^T / sqrt(head_dim)) of the built-in sentence, in float32, all heads.
HeadWeights sentence_weights();

// Weights from a file of shape (queries, keys), (heads, queries, keys) or (layers, heads, queries, keys). `tokens` names a text file with a
// token a line, or a JSON list of them (or an object that has one as "tokens"); empty: tokens are called by their positions. They name the
// keys, and the queries where there are as many. Throws FileError, and UsageError for other shapes, for numbers that are no weights, for
// tokens that are not as many as the keys, and for more than `most_tokens`.
HeadWeights weights_from_file(const std::string& weights, const std::string& tokens);

// More would make a picture that nobody can read, of many megabytes.
inline constexpr Index most_tokens = 256;

// The position of a token that is named by its text, if that occurs once, or by its position. Throws UsageError naming `option`.
Index find_token(const std::string& option, const std::string& name, const std::vector<std::string>& tokens);

// The head that gives the most weight from one position to another, among all or those of one layer or of one number; the first of equals.
struct HeadPlace {
  Index layer = 0, head = 0;
};
HeadPlace strongest_head(const HeadWeights& weights, Index query, Index key, std::optional<Index> layer, std::optional<Index> head);

}  // namespace attn
