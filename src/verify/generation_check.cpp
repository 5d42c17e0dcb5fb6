#include "verify/generation_check.h"

#include <algorithm>
#include <mutex>

#include "gemm/gemm.h"
#include "machine/parallel.h"
#include "machine/threads.h"
#include "verify/judge.h"
#include "verify/product_check.h"

namespace attn {
namespace {

constexpr std::uint64_t check_seed = 20170612;  // of the rows and vectors that the check draws, not of what is checked

template <class T>
Matrix<T> magnitudes_of(MatrixView<const T> m) {
  Matrix<T> result = copy(m);
  for (Index i = 0; i < result.size(); ++i) result.data()[i] = std::abs(result.data()[i]);
  return result;
}

// A: sum_m |x_im w_mj| for every element of x W.
template <class T>
Matrix<T> terms_of(MatrixView<const T> x, MatrixView<const T> w) {
  Matrix<T> terms(x.rows(), w.cols());
  gemm(T{1}, magnitudes_of(x).view(), magnitudes_of(w).view(), T{0}, terms.view());
  return terms;
}

template <class T>
class GenerationCheck {
 public:
  explicit GenerationCheck(const GeneratedRows<T>& rows)
      : rows_(rows),
        head_dim_(rows.x.cols() / rows.heads),
        q_terms_(terms_of(rows.x, rows.w_q)),
        k_terms_(terms_of(rows.x, rows.w_k)),
        v_terms_(terms_of(rows.x, rows.w_v)) {}

  // What row t of the output should be.
  UncertainRow<T> expected_row(Index t) const {
    UncertainRow<T> o(static_cast<std::size_t>(rows_.x.cols()));
    for (Index h = 0; h < rows_.heads; ++h) add_head(t, h, o);
    return row_product(o, rows_.w_o);
  }

 private:
  // The columns of head h in rows [first, first + count).
  MatrixView<const T> head(MatrixView<const T> m, Index h, Index first, Index count) const {
    return m.block(first, h * head_dim_, count, head_dim_);
  }

  // The head's columns of o in row t.
  void add_head(Index t, Index h, UncertainRow<T>& o) const {
    const MatrixView<const T> keys = head(rows_.k, h, 0, t + 1);
    const MatrixView<const T> values = head(rows_.v, h, 0, t + 1);
    using View = TensorView<const T>;
    const AttentionShape shape{1, 1, 1, 1, t + 1, head_dim_, head_dim_};
    const auto row = reference_row<OracleType<T>, T>(shape, View::from_matrix(head(rows_.q, h, t, 1)), View::from_matrix(keys),
                                                     View::from_matrix(values), AttentionOptions<T>(), 0, 0, 0);
    const std::vector<double> weights = as_doubles(row.weights);
    const Tolerance tolerance = tolerance_of<T>();
    std::vector<double> allowed = allowed_differences<T>(values, weights, as_doubles(row.output), score_magnitudes(t, h, keys), tolerance);
    for (Index j = 0; j <= t; ++j) {
      const T* terms = v_terms_.view().row(j) + h * head_dim_;
      const double factor = tolerance.c * tolerance.eps_acc * weights[static_cast<std::size_t>(j)];
      for (Index x = 0; x < head_dim_; ++x) allowed[static_cast<std::size_t>(x)] += factor * static_cast<double>(terms[x]);
    }
    std::copy(row.output.begin(), row.output.end(), o.values.begin() + h * head_dim_);
    std::copy(allowed.begin(), allowed.end(), o.errors.begin() + h * head_dim_);
  }

  // For every key what query t's score is made of, as the head of this file has it.
  std::vector<double> score_magnitudes(Index t, Index h, MatrixView<const T> keys) const {
    const T* q = rows_.q.row(t) + h * head_dim_;
    const T* q_terms = q_terms_.view().row(t) + h * head_dim_;
    const double scale = 1 / std::sqrt(static_cast<double>(head_dim_));
    std::vector<double> magnitudes(static_cast<std::size_t>(t + 1));
    for (Index j = 0; j <= t; ++j) {
      const T* k = keys.row(j);
      const T* k_terms = k_terms_.view().row(j) + h * head_dim_;
      double own = 0;
      double projected = 0;
      for (Index x = 0; x < head_dim_; ++x) {
        const double of_query = static_cast<double>(q_terms[x]) * static_cast<double>(k[x]);
        const double of_key = static_cast<double>(q[x]) * static_cast<double>(k_terms[x]);
        own += std::abs(static_cast<double>(q[x]) * static_cast<double>(k[x]));
        projected += of_query * of_query + of_key * of_key;
      }
      magnitudes[static_cast<std::size_t>(j)] = scale * (own + std::sqrt(projected));
    }
    return magnitudes;
  }

  const GeneratedRows<T>& rows_;
  Index head_dim_;
  Matrix<T> q_terms_, k_terms_, v_terms_;  // (n, d_model)
};

template <class T>
std::string wrong_projection(const GeneratedRows<T>& rows) {
  if (check_product<T>(rows.x, rows.w_q, false, rows.q, check_seed)) return "q";
  if (check_product<T>(rows.x, rows.w_k, false, rows.k, check_seed)) return "k";
  if (check_product<T>(rows.x, rows.w_v, false, rows.v, check_seed)) return "v";
  return "";
}

// Compares row t of both outputs with what it should be.
template <class T>
void add_row(GenerationAgreement& agreement, const GeneratedRows<T>& rows, Index t, const UncertainRow<T>& expected) {
  for (Index c = 0; c < rows.x.cols(); ++c) {
    const auto at = static_cast<std::size_t>(c);
    const double value = static_cast<double>(expected.values[at]);
    const double uncached = static_cast<double>(rows.uncached(t, c));
    const double cached = static_cast<double>(rows.cached(t, c));
    agreement.uncached.add(t, c, value, uncached, expected.errors[at]);
    agreement.cached.add(t, c, value, cached, expected.errors[at]);
    agreement.largest_difference = std::max(agreement.largest_difference, std::abs(cached - uncached));
  }
}

}  // namespace

template <class T>
GenerationAgreement compare_generation(const GeneratedRows<T>& rows) {
  const GenerationCheck<T> check(rows);
  const Index n = rows.x.rows();
  const std::vector<Index> compared = rows_to_judge({1, rows.heads, rows.heads, n, n, 0, 0}, false, check_seed);
  GenerationAgreement agreement;
  agreement.rows = static_cast<Index>(compared.size());
  agreement.wrong_projection = wrong_projection(rows);
  std::mutex mutex;  // of agreement
  parallel_for(agreement.rows, threads(), [&](Index r) {
    // Later rows take longer: they go first.
    const Index t = compared[compared.size() - 1 - static_cast<std::size_t>(r)];
    const UncertainRow<T> expected = check.expected_row(t);
    const std::lock_guard lock(mutex);
    add_row(agreement, rows, t, expected);
  });
  return agreement;
}

template GenerationAgreement compare_generation(const GeneratedRows<float>&);
template GenerationAgreement compare_generation(const GeneratedRows<double>&);

}  // namespace attn
