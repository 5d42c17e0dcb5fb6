#include "claims/masking.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "numpy/generator.h"

namespace attn {
namespace {

constexpr Index most_seq = 300;  // several tiles of either algorithm
constexpr Index most_dim = 80;

template <class T>
const char* dtype_name() {
  return sizeof(T) == sizeof(float) ? "f32" : "f64";
}

Index random_size(Generator& generator, Index least, Index most) {
  return least + static_cast<Index>(generator.random() * static_cast<double>(most - least + 1));
}

template <class T>
void fill(Generator& generator, MatrixView<T> rows) {
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) rows(i, j) = static_cast<T>(generator.standard_normal());
  }
}

// One head of random sizes, with at least two tokens.
template <class T>
struct RandomHead {
  explicit RandomHead(Generator& generator) {
    const Index seq = random_size(generator, 2, most_seq);
    const Index dim = random_size(generator, 1, most_dim);
    const Index dim_v = random_size(generator, 1, most_dim);
    q = Matrix<T>(seq, dim);
    k = Matrix<T>(seq, dim);
    v = Matrix<T>(seq, dim_v);
    for (Matrix<T>* matrix : {&q, &k, &v}) fill(generator, matrix->view());
  }

  Index seq() const { return q.rows(); }

  // (seq, dim_v)
  Matrix<T> attend(const Attend<T>& attend, bool causal, T* weights = nullptr) const {
    Matrix<T> output(seq(), v.cols());
    const auto view = [](const Matrix<T>& m) { return TensorView<const T>::from_matrix(m.view()); };
    AttentionOptions<T> options;
    options.causal = causal;
    attend({view(q), view(k), view(v), TensorView<T>::from_matrix(output.view())}, options, weights);
    return output;
  }

  Matrix<T> q, k, v;
};

template <class T>
bool same_bits(const T* a, const T* b, Index count) {
  return std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(T)) == 0;
}

template <class T>
void compare(RowAgreement& agreement, const T* a, const T* b, Index count) {
  ++agreement.problems;
  if (same_bits(a, b, count)) ++agreement.identical;
  for (Index i = 0; i < count; ++i) {
    agreement.largest_difference = std::max(agreement.largest_difference, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  }
}

// An agreement for the output, and one for the weights where there are any.
template <class T>
std::vector<RowAgreement> blank_agreements(const std::string& algorithm, bool has_weights) {
  std::vector<RowAgreement> all = {{"output of " + algorithm, dtype_name<T>()}};
  if (has_weights) all.push_back({"weights of " + algorithm, dtype_name<T>()});
  return all;
}

template <class T>
Matrix<T> weights_for(const RandomHead<T>& head, bool wanted) {
  return wanted ? Matrix<T>(head.seq(), head.seq()) : Matrix<T>();
}

}  // namespace

template <class T>
PeekCount count_peeks(const std::string& algorithm, const Attend<T>& attend, Index problems, const Seed& seed) {
  Generator generator = default_rng(seed);
  PeekCount count{algorithm, dtype_name<T>(), problems};
  for (Index problem = 0; problem < problems; ++problem) {
    RandomHead<T> head(generator);
    const Matrix<T> before = head.attend(attend, true);
    const Index i = random_size(generator, 0, head.seq() - 2);
    const Index later = head.seq() - 1 - i;
    fill(generator, head.k.view().block(i + 1, 0, later, head.k.cols()));
    fill(generator, head.v.view().block(i + 1, 0, later, head.v.cols()));
    const Matrix<T> after = head.attend(attend, true);
    for (Index row = 0; row < head.seq(); ++row) {
      const bool same = same_bits(before.view().row(row), after.view().row(row), before.cols());
      if (row <= i && !same) ++count.changed_before;
      if (row > i && same) ++count.unchanged_after;
    }
    count.rows_before += i + 1;
    count.rows_after += later;
  }
  return count;
}

template <class T>
std::vector<RowAgreement> compare_last_rows(const std::string& algorithm, const Attend<T>& attend, bool has_weights, Index problems,
                                            const Seed& seed) {
  Generator generator = default_rng(seed);
  std::vector<RowAgreement> agreements = blank_agreements<T>(algorithm, has_weights);
  for (Index problem = 0; problem < problems; ++problem) {
    const RandomHead<T> head(generator);
    Matrix<T> full_weights = weights_for(head, has_weights), causal_weights = weights_for(head, has_weights);
    const Matrix<T> full = head.attend(attend, false, full_weights.data());
    const Matrix<T> causal = head.attend(attend, true, causal_weights.data());
    const Index last = head.seq() - 1;
    compare(agreements[0], full.view().row(last), causal.view().row(last), full.cols());
    if (has_weights) compare(agreements[1], full_weights.view().row(last), causal_weights.view().row(last), head.seq());
  }
  return agreements;
}

template <class T>
std::vector<RowAgreement> compare_first_rows(const std::string& algorithm, const Attend<T>& attend, bool has_weights, Index problems,
                                             const Seed& seed) {
  Generator generator = default_rng(seed);
  std::vector<RowAgreement> agreements = blank_agreements<T>(algorithm, has_weights);
  for (Index problem = 0; problem < problems; ++problem) {
    const RandomHead<T> head(generator);
    Matrix<T> weights = weights_for(head, has_weights);
    const Matrix<T> output = head.attend(attend, true, weights.data());
    compare(agreements[0], output.data(), head.v.data(), output.cols());
    if (!has_weights) continue;
    std::vector<T> itself(static_cast<std::size_t>(head.seq()));
    itself[0] = 1;
    compare(agreements[1], weights.data(), itself.data(), head.seq());
  }
  return agreements;
}

Judged judge_no_peek(const std::vector<PeekCount>& counts) {
  for (const PeekCount& count : counts) {
    if (count.changed_before == 0) continue;
    return {ClaimVerdict::does_not_hold, fmt::format("{} of {} rows of {} ({}) saw a later token", count.changed_before, count.rows_before,
                                                     count.algorithm, count.dtype)};
  }
  for (const PeekCount& count : counts) {
    if (count.unchanged_after == 0) continue;
    return {ClaimVerdict::in_part, fmt::format("no row sees a later token, but {} of {} rows of {} ({}) do not see all earlier ones",
                                               count.unchanged_after, count.rows_after, count.algorithm, count.dtype)};
  }
  return {ClaimVerdict::holds, "not one bit of a row depends on later tokens"};
}

Judged judge_agreement(const std::vector<RowAgreement>& agreements) {
  const RowAgreement* worst = nullptr;
  for (const RowAgreement& agreement : agreements) {
    if (agreement.identical == agreement.problems) continue;
    if (worst == nullptr || agreement.largest_difference > worst->largest_difference) worst = &agreement;
  }
  if (worst == nullptr) return {ClaimVerdict::holds, "the same to the bit in every problem"};
  const std::string found = fmt::format("the {} ({}) differs in {} of {} problems, by {:.2g} at most", worst->what, worst->dtype,
                                        worst->problems - worst->identical, worst->problems, worst->largest_difference);
  return {worst->largest_difference < rounding_of_rows ? ClaimVerdict::in_part : ClaimVerdict::does_not_hold, found};
}

template PeekCount count_peeks(const std::string&, const Attend<float>&, Index, const Seed&);
template PeekCount count_peeks(const std::string&, const Attend<double>&, Index, const Seed&);
template std::vector<RowAgreement> compare_last_rows(const std::string&, const Attend<float>&, bool, Index, const Seed&);
template std::vector<RowAgreement> compare_last_rows(const std::string&, const Attend<double>&, bool, Index, const Seed&);
template std::vector<RowAgreement> compare_first_rows(const std::string&, const Attend<float>&, bool, Index, const Seed&);
template std::vector<RowAgreement> compare_first_rows(const std::string&, const Attend<double>&, bool, Index, const Seed&);

}  // namespace attn
