// The claims about the causal mask and about PyTorch's outputs: verdicts as functions of numbers, and faulty masks and scales that change
// them.
#include <cmath>
#include <limits>

#include "catch.h"
#include "claims/masking.h"
#include "claims/pytorch.h"

using namespace attn;

namespace {

constexpr Index problems = 12;

// An attention whose options a test has tampered with.
template <class T, class Tamper>
Attend<T> tampered(const Attend<T>& attend, const Tamper& tamper) {
  return [attend, tamper](const AttentionTensors<T>& tensors, AttentionOptions<T> options, T* weights) {
    tamper(options, tensors);
    attend(tensors, options, weights);
  };
}

template <class T>
void one_key_further(AttentionOptions<T>& options, const AttentionTensors<T>&) {
  if (options.causal) options.offset += 1;
}

template <class T>
void one_key_short(AttentionOptions<T>& options, const AttentionTensors<T>&) {
  if (options.causal) options.offset -= 1;
}

template <class T>
ClaimVerdict peek_verdict(const Attend<T>& attend) {
  return judge_no_peek({count_peeks<T>("any", attend, problems, Seed(3))}).verdict;
}

template <class T>
ClaimVerdict last_row_verdict(const Attend<T>& attend, bool has_weights) {
  return judge_agreement(compare_last_rows<T>("any", attend, has_weights, problems, Seed(3))).verdict;
}

template <class T>
ClaimVerdict first_row_verdict(const Attend<T>& attend, bool has_weights) {
  return judge_agreement(compare_first_rows<T>("any", attend, has_weights, problems, Seed(3))).verdict;
}

template <class T>
void check_masking(const Attend<T>& attend, bool has_weights) {
  CHECK(peek_verdict(attend) == ClaimVerdict::holds);
  CHECK(last_row_verdict(attend, has_weights) == ClaimVerdict::holds);
  CHECK(first_row_verdict(attend, has_weights) == ClaimVerdict::holds);

  const Attend<T> further = tampered(attend, one_key_further<T>);
  CHECK(peek_verdict(further) == ClaimVerdict::does_not_hold);
  CHECK(first_row_verdict(further, has_weights) == ClaimVerdict::does_not_hold);

  const Attend<T> shorter = tampered(attend, one_key_short<T>);
  CHECK(peek_verdict(shorter) == ClaimVerdict::in_part);
  CHECK(last_row_verdict(shorter, has_weights) == ClaimVerdict::does_not_hold);
  CHECK(first_row_verdict(shorter, has_weights) == ClaimVerdict::does_not_hold);

  const Attend<T> unmasked = tampered(attend, [](AttentionOptions<T>& options, const AttentionTensors<T>&) { options.causal = false; });
  CHECK(peek_verdict(unmasked) == ClaimVerdict::does_not_hold);
  CHECK(first_row_verdict(unmasked, has_weights) == ClaimVerdict::does_not_hold);
}

ClaimVerdict pytorch_verdict(const Attend<double>& attend) { return judge_pytorch(measure_pytorch(attend)).verdict; }

}  // namespace

TEST_CASE("no-peek: one early row that changed or one later row that did not decide", "[claims]") {
  const auto verdict = [](Index changed_before, Index unchanged_after) {
    return judge_no_peek({{"standard", "f32", 5, 100, 0, 80, 0}, {"fused", "f64", 5, 100, changed_before, 80, unchanged_after}}).verdict;
  };
  CHECK(verdict(0, 0) == ClaimVerdict::holds);
  CHECK(verdict(0, 1) == ClaimVerdict::in_part);
  CHECK(verdict(1, 0) == ClaimVerdict::does_not_hold);
  CHECK(verdict(1, 1) == ClaimVerdict::does_not_hold);
}

TEST_CASE("last-row and first-row: bits decide, then the size of the difference", "[claims]") {
  const auto verdict = [](Index identical, double difference) {
    return judge_agreement({{"output of standard", "f64", 9, 9, 0}, {"output of fused", "f64", 9, identical, difference}}).verdict;
  };
  CHECK(verdict(9, 0) == ClaimVerdict::holds);
  CHECK(verdict(8, 1e-7) == ClaimVerdict::in_part);
  CHECK(verdict(8, 1e-4) == ClaimVerdict::does_not_hold);
}

TEST_CASE("the mask's claims hold for both algorithms, and a mask that is off by one changes every verdict", "[claims]") {
  check_masking<float>(standard_attend<float>(), true);
  check_masking<double>(standard_attend<double>(), true);
  check_masking<float>(fused_attend<float>(), false);
  check_masking<double>(fused_attend<double>(), false);
}

TEST_CASE("pytorch: the verdict goes by document 1's example, then by the other sizes", "[claims]") {
  const auto verdict = [](double own, double other) {
    return judge_pytorch({{true, 6, 8, false, own}, {false, 256, 64, true, other}}).verdict;
  };
  CHECK(verdict(4e-16, 1e-15) == ClaimVerdict::holds);
  CHECK(verdict(4e-16, 2e-15) == ClaimVerdict::in_part);
  CHECK(verdict(2e-15, 1e-16) == ClaimVerdict::does_not_hold);
  CHECK(verdict(4e-16, 2e-13) == ClaimVerdict::does_not_hold);
  CHECK(verdict(4e-16, std::numeric_limits<double>::infinity()) == ClaimVerdict::does_not_hold);
}

TEST_CASE("pytorch: both algorithms agree with PyTorch, and faults in scale and mask change the verdict", "[claims]") {
  CHECK(pytorch_verdict(standard_attend<double>()) == ClaimVerdict::holds);
  // The fused sums run in another order.
  CHECK(pytorch_verdict(fused_attend<double>()) != ClaimVerdict::does_not_hold);
  CHECK(pytorch_verdict(tampered(standard_attend<double>(), [](auto& options, const auto& tensors) {
          options.softmax_scale = 1 / static_cast<double>(tensors.q.dim);  // 1 / sqrt(d) twice
        })) == ClaimVerdict::does_not_hold);
  CHECK(pytorch_verdict(tampered(standard_attend<double>(), one_key_further<double>)) == ClaimVerdict::does_not_hold);
}
