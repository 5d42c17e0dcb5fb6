#include "verify/known_mistakes.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "attention/visibility.h"

namespace attn {
namespace {

template <class T>
using Mistakes = std::vector<KnownMistake<T>>;
template <class T>
using Made = std::optional<ExpectedRow>;

// Keys that kernels commonly work on at a time, but so few that there are two tiles at least.
Index tile_keys(Index seq_k) {
  Index tile = 64;
  while (tile > 1 && tile >= seq_k) tile /= 2;
  return tile;
}

// One past the last key that can take part in batch b, causality and window apart.
template <class T>
Index end_of_keys(const RowContext<T>& c) {
  AttentionOptions<T> padding_only;
  padding_only.mask = c.options.mask;
  padding_only.key_lengths = c.options.key_lengths;
  return visible_range(c.shape, padding_only, c.b, c.i).last;
}

template <class T>
bool sees_a_key(const RowContext<T>& c) {
  return std::any_of(c.row.weights.begin(), c.row.weights.end(), [](const auto& p) { return static_cast<double>(p) != 0; });
}

// The mistake of having other options; no mistake where the masked scores are the same.
template <class T>
auto with_options(AttentionOptions<T> other) {
  return [other](const RowContext<T>& c) -> Made<T> { return row_of_scores(c, remasked(c, other)); };
}

// The weights multiplied by factor(j) for the keys [first, last) with everything divided by the new sum.
template <class T>
Made<T> reweighted(const RowContext<T>& c, Index first, Index last, int factor) {
  using A = OracleType<T>;
  std::vector<A> weights = c.row.weights;
  for (Index j = std::max<Index>(first, 0); j < last; ++j)
    weights[static_cast<std::size_t>(j)] = weights[static_cast<std::size_t>(j)] * A(factor);
  A sum(0);
  for (const A& p : weights) sum = sum + p;
  if (!(sum == A(0))) {
    for (A& p : weights) p = p / sum;
  }
  return row_of_weights(c, weights, c.values());
}

// The scores with another scale, `factor` times the right one, and the same softcap (0: none) and mask.
template <class T>
Made<T> rescaled(const RowContext<T>& c, double factor, double softcap) {
  using std::tanh;
  using A = OracleType<T>;
  std::vector<A> scores = c.row.masked;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    if (std::isinf(static_cast<double>(scores[j]))) continue;
    const A raw = c.row.raw[j] * A(factor);
    const A capped = softcap > 0 ? A(softcap) * tanh(raw / A(softcap)) : raw;
    scores[j] = scores[j] - c.row.capped[j] + capped;
  }
  return row_of_scores(c, std::move(scores), std::abs(factor));
}

// Online softmax over tiles that forgets exp(old maximum - new maximum) for the output, and for the sum too or not.
template <class T>
Made<T> not_rescaled(const RowContext<T>& c, bool sum_rescaled) {
  using std::exp;
  using A = OracleType<T>;
  const Index tile = tile_keys(c.shape.seq_k);
  std::vector<A> weights(c.row.masked.size());
  A row_max = -std::numeric_limits<A>::infinity();
  A sum(0);
  for (Index first = 0; first < c.shape.seq_k; first += tile) {
    const Index last = std::min(first + tile, c.shape.seq_k);
    const A before = row_max;
    for (Index j = first; j < last; ++j) {
      if (c.row.masked[static_cast<std::size_t>(j)] > row_max) row_max = c.row.masked[static_cast<std::size_t>(j)];
    }
    if (std::isinf(static_cast<double>(row_max))) continue;
    if (sum_rescaled) sum = sum * exp(before - row_max);
    for (Index j = first; j < last; ++j) {
      weights[static_cast<std::size_t>(j)] = exp(c.row.masked[static_cast<std::size_t>(j)] - row_max);
      sum = sum + weights[static_cast<std::size_t>(j)];
    }
  }
  if (sum == A(0)) return std::nullopt;
  for (A& p : weights) p = p / sum;
  return row_of_weights(c, weights, c.values());
}

template <class T>
Made<T> heads_tiled(const RowContext<T>& c) {
  const Index right = c.shape.kv_head_of(c.h);
  const Index wrong = c.h % c.shape.kv_heads;
  if (wrong == right) return std::nullopt;
  AttentionTensors<T> tensors = c.tensors;
  tensors.k.data += (wrong - right) * tensors.k.head_stride;
  tensors.v.data += (wrong - right) * tensors.v.head_stride;
  const auto row = reference_row<OracleType<T>, T>(c.shape, tensors.q, tensors.k, tensors.v, c.options, c.b, c.h, c.i);
  return right_row(RowContext<T>{tensors, c.shape, c.options, c.tolerance, c.b, c.h, c.i, row});
}

template <class T>
Made<T> values_transposed(const RowContext<T>& c) {
  const MatrixView<const T> values = c.values();
  Matrix<T> transposed(values.cols(), values.rows());
  for (Index j = 0; j < values.rows(); ++j) {
    for (Index x = 0; x < values.cols(); ++x) transposed(x, j) = values(j, x);
  }
  return row_of_weights<T>(c, c.row.weights, transposed.view());
}

// softcap tanh((s + mask) / softcap): masked keys come back with a score of -softcap.
template <class T>
Made<T> softcap_after_mask(const RowContext<T>& c) {
  using std::tanh;
  using A = OracleType<T>;
  const A softcap(c.options.softcap);
  std::vector<A> scores = c.row.masked;
  for (std::size_t j = 0; j < scores.size(); ++j) {
    const bool masked = std::isinf(static_cast<double>(scores[j]));
    scores[j] = masked ? -softcap : softcap * tanh((c.row.raw[j] + (scores[j] - c.row.capped[j])) / softcap);
  }
  return row_of_scores(c, std::move(scores));
}

// Rows without a key: softmax of nothing. The others are right.
template <class T>
Made<T> empty_rows(const RowContext<T>& c, bool nan) {
  using A = OracleType<T>;
  if (sees_a_key(c)) return std::nullopt;
  const double each = nan ? std::numeric_limits<double>::quiet_NaN() : 1 / static_cast<double>(c.shape.seq_k);
  return row_of_weights(c, std::vector<A>(c.row.weights.size(), A(each)), c.values());
}

template <class T>
Made<T> mean_of_values(const RowContext<T>& c) {
  using A = OracleType<T>;
  std::vector<A> scores = c.row.masked;
  for (A& score : scores) score = std::isinf(static_cast<double>(score)) ? score : A(0);
  return row_of_scores(c, std::move(scores), 0);
}

template <class T>
Made<T> zeros(const RowContext<T>& c) {
  return row_of_weights(c, std::vector<OracleType<T>>(c.row.weights.size()), c.values());
}

template <class T>
Made<T> not_normalised(const RowContext<T>& c) {
  using std::exp;
  using A = OracleType<T>;
  A row_max = -std::numeric_limits<A>::infinity();
  for (const A& score : c.row.masked) row_max = score > row_max ? score : row_max;
  if (std::isinf(static_cast<double>(row_max))) return std::nullopt;
  std::vector<A> weights;
  for (const A& score : c.row.masked) weights.push_back(exp(score - row_max));
  return row_of_weights(c, weights, c.values());
}

constexpr const char* more_weight = "give those keys more weight: fewer keys, or larger scores there";

template <class T>
void add_general(Mistakes<T>& all, const AttentionShape& shape) {
  all.push_back({"zeros", "use values that are not 0", zeros<T>});
  all.push_back({"mean of V", "use larger queries and keys, so that weights differ", mean_of_values<T>});
  all.push_back({"not divided by the sum of the weights", "let a query see several keys", not_normalised<T>});
  const auto last_key = [](int factor) {
    return [factor](const RowContext<T>& c) { return reweighted(c, end_of_keys(c) - 1, end_of_keys(c), factor); };
  };
  all.push_back({"last key dropped", more_weight, last_key(0)});
  all.push_back({"last key counted twice", more_weight, last_key(2)});
  const Index tile = tile_keys(shape.seq_k);
  const bool tiles = tile > 1;
  const auto last_tile = [tile](int factor) {
    return [tile, factor](const RowContext<T>& c) {
      const Index end = end_of_keys(c);
      return reweighted(c, std::max<Index>(0, end - 1) / tile * tile, end, factor);
    };
  };
  if (tiles) {
    all.push_back({"last tile of " + std::to_string(tile) + " keys dropped", more_weight, last_tile(0)});
    all.push_back({"last tile of " + std::to_string(tile) + " keys counted twice", more_weight, last_tile(2)});
    const char* hint = "let later keys have larger scores than earlier ones";
    all.push_back(
        {"output not rescaled when the running maximum moves", hint, [](const RowContext<T>& c) { return not_rescaled(c, true); }});
    all.push_back({"output and sum not rescaled when the running maximum moves", hint,
                   [](const RowContext<T>& c) { return not_rescaled(c, false); }});
  }
  if (shape.seq_k == shape.head_dim_v && shape.seq_k > 1) {
    all.push_back({"V transposed", "use other values", values_transposed<T>});
  }
  if (shape.kv_heads > 1 && shape.group() > 1) {
    all.push_back({"heads tiled instead of repeated", "let the key and value heads differ", heads_tiled<T>});
  }
}

template <class T>
void add_scores(Mistakes<T>& all, const AttentionShape& shape, const AttentionOptions<T>& options) {
  const double scale = softmax_scale_of(shape, options);
  const double softcap = options.softcap;
  if (scale != 1 && scale != 0) {
    const char* hint = "use larger queries and keys, and a scale other than 1";
    all.push_back({"unscaled scores", hint, [=](const RowContext<T>& c) { return rescaled(c, 1 / scale, softcap); }});
    all.push_back({"scores scaled twice", hint, [=](const RowContext<T>& c) { return rescaled(c, scale, softcap); }});
  }
  if (softcap > 0) {
    all.push_back({"softcap left out", "use scores beyond the softcap", [](const RowContext<T>& c) { return rescaled(c, 1, 0); }});
    if (can_mask(options)) all.push_back({"softcap after the mask", "mask keys, and use a small softcap", softcap_after_mask<T>});
  }
}

template <class T>
AttentionOptions<T> with_offset(AttentionOptions<T> options, Index offset) {
  options.offset = offset;
  options.batch_offsets.clear();
  return options;
}

// Every query one key further on.
template <class T>
AttentionOptions<T> shifted(AttentionOptions<T> options, Index by) {
  options.offset += by;
  for (Index& offset : options.batch_offsets) offset += by;
  return options;
}

template <class T>
void add_positions(Mistakes<T>& all, const AttentionShape& shape, const AttentionOptions<T>& options) {
  const Index bottom_right = shape.seq_k - shape.seq_q;
  const bool own = !options.batch_offsets.empty();
  const bool window = options.window_left != unlimited || options.window_right != unlimited;
  if (options.causal || window) {
    const std::string what = options.causal ? "causal" : "window";
    const char* hint = "use fewer queries than keys";
    const bool same = bottom_right == 0 && !own && options.offset == 0;
    const auto alignment = [&](const char* name, Index offset) {
      if (!own && options.offset == offset && !same) return;
      auto make = same ? nullptr : std::function<Made<T>(const RowContext<T>&)>(with_options(with_offset(options, offset)));
      all.push_back({std::string(name) + " " + what + " alignment", hint, std::move(make)});
    };
    if (!same) alignment("top-left", 0);
    alignment(same ? "other" : "bottom-right", bottom_right);
    all.push_back({what + " mask off by one, a key too few", "let queries see few keys", with_options(shifted(options, -1))});
    all.push_back({what + " mask off by one, a key too many", "let queries see few keys", with_options(shifted(options, 1))});
  }
  AttentionOptions<T> other = options;
  if (options.causal) {
    other.causal = false;
    all.push_back({"causality left out", "let queries have later keys", with_options(other)});
  } else if (shape.seq_k > 1) {
    other.causal = true;
    all.push_back({"causal although not asked for", "let queries have later keys", with_options(other)});
  }
  if (window) {
    other = options;
    other.window_left = other.window_right = unlimited;
    all.push_back({"window left out", "use a window smaller than the keys", with_options(other)});
  }
}

template <class T>
void add_masks(Mistakes<T>& all, const AttentionOptions<T>& options) {
  AttentionOptions<T> other = options;
  if (options.mask.exists()) {
    other.mask = {};
    all.push_back({"mask left out", "mask keys that have weight", with_options(other)});
  }
  if (options.mask.visible != nullptr) {
    all.push_back({"mask inverted", "let the mask hide some keys, not all", [without = other](const RowContext<T>& c) -> Made<T> {
                     auto scores = remasked(c, without);
                     const MaskView<T>& mask = c.options.mask;
                     for (Index j = 0; j < mask.keys; ++j) {
                       const bool hidden = mask.visible[mask.row_offset(c.b, c.h, c.i) + j * mask.key_stride] != 0;
                       if (hidden) scores[static_cast<std::size_t>(j)] = -std::numeric_limits<OracleType<T>>::infinity();
                     }
                     return row_of_scores(c, std::move(scores));
                   }});
  }
  if (!options.key_lengths.empty()) {
    other = options;
    other.key_lengths.clear();
    all.push_back({"padding takes part", "use key lengths below the number of keys", with_options(other)});
  }
  if (can_mask(options)) {
    all.push_back({"NaN in rows without a key", "have a row that sees no key", [](const RowContext<T>& c) { return empty_rows(c, true); }});
    all.push_back({"mean of V in rows without a key (a finite number for -inf)", "have a row that sees no key",
                   [](const RowContext<T>& c) { return empty_rows(c, false); }});
  }
}

}  // namespace

template <class T>
Mistakes<T> known_mistakes(const AttentionShape& shape, const AttentionOptions<T>& options) {
  Mistakes<T> all;
  add_positions(all, shape, options);
  add_scores(all, shape, options);
  add_masks(all, options);
  add_general(all, shape);
  return all;
}

template std::vector<KnownMistake<float>> known_mistakes(const AttentionShape&, const AttentionOptions<float>&);
template std::vector<KnownMistake<double>> known_mistakes(const AttentionShape&, const AttentionOptions<double>&);

}  // namespace attn
