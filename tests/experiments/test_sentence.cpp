// The built-in sentence: its tensors are those of the file, and attention on them gives torch's weights in every head.
#include <cmath>

#include "attention/standard.h"
#include "catch.h"
#include "io/npy.h"
#include "sentence.h"

using namespace attn;

TEST_CASE("the sentence is read whole", "[sentence]") {
  const Sentence& read = sentence();
  CHECK(read.text == "The cat sat on the mat because it was tired");
  REQUIRE(read.tokens.size() == 12);
  CHECK(read.tokens[8] == "it");
  for (const TensorView<const float>* part : {&read.q, &read.k, &read.v}) {
    CHECK(part->batch == 6);
    CHECK(part->heads == 12);
    CHECK(part->seq == 12);
    CHECK(part->dim == 32);
  }
}

// A softmax's weights are wrong by a few rounding errors of its scores, which are sums of 32 products of up to about 10 here.
TEST_CASE("attention on the sentence gives torch's weights in all 72 heads", "[sentence]") {
  const Sentence& read = sentence();
  const Tensor expected = read_npy_file(ATTN_DATA_DIR "/sentence/weights.npy");
  REQUIRE(expected.shape() == std::vector<Index>{6, 12, 12, 12});
  Tensor output(Dtype::f32, {6, 12, 12, 32});
  Tensor weights(Dtype::f32, expected.shape());
  StandardOutputs<float> outputs;
  outputs.weights = weights.as<float>().data();
  const auto o = TensorView<float>::hnd(output.as<float>().data(), 6, 12, 12, 32);
  standard_attention<float>({read.q, read.k, read.v, o}, {}, outputs);
  double largest = 0;
  for (Index at = 0; at < expected.size(); ++at) {
    const auto i = static_cast<std::size_t>(at);
    largest = std::max(largest, std::abs(static_cast<double>(weights.as<float>()[i]) - static_cast<double>(expected.as<float>()[i])));
  }
  CHECK(largest < 2e-6);
  CHECK(largest > 0);  // not a comparison with itself: two programs round differently
}
