#include "attention/visibility.h"
#include "catch.h"

using namespace attn;

TEST_CASE("the number of visible pairs is the sum of the rows' ranges") {
  for (const Index seq_q : {1, 5, 12}) {
    for (const Index seq_k : {1, 7, 12}) {
      for (const Index offset : {-13, -3, 0, 2, 20}) {
        for (const Index left : {Index{0}, Index{2}, Index{30}, unlimited}) {
          for (const Index right : {Index{0}, Index{3}, Index{30}, unlimited}) {
            for (const bool causal : {false, true}) {
              const AttentionShape shape{2, 3, 1, seq_q, seq_k, 4, 4};
              AttentionOptions<float> options;
              options.offset = offset;
              options.window_left = left;
              options.window_right = right;
              options.causal = causal;
              options.key_lengths = {seq_k, seq_k / 2};
              Index pairs = 0;
              for (Index b = 0; b < 2; ++b) {
                for (Index i = 0; i < seq_q; ++i) pairs += 3 * visible_range(shape, options, b, i).size();
              }
              INFO(seq_q << " x " << seq_k << " offset " << offset << " window " << left << "," << right << " causal " << causal);
              CHECK(visible_pairs(shape, options) == static_cast<double>(pairs));
            }
          }
        }
      }
    }
  }
}
