#include "verify/known_mistakes.h"

#include <algorithm>
#include <string>

#include "attention/visibility.h"
#include "verify/mistaken_rows.h"

namespace attn {
namespace {

using namespace mistaken;

template <class T>
using Mistakes = std::vector<KnownMistake<T>>;
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
