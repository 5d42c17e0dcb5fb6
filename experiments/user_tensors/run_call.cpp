#include "user_tensors/run_call.h"

#include <algorithm>
#include <numeric>

#include "attention/fused.h"
#include "attention/reference.h"
#include "attention/standard.h"
#include "machine/error.h"
#include "machine/parallel.h"
#include "machine/threads.h"

namespace attn {
namespace {

// (batch, heads, ...), without the leading dimensions that q's array lacks.
std::vector<Index> leading_shape(const Arrangement& q, std::vector<Index> rest) {
  const bool packed = q.layout == Layout::packed;
  if (packed || q.rank >= 3) rest.insert(rest.begin(), q.heads);
  if (q.rank == 4 || (packed && q.rank == 3)) rest.insert(rest.begin(), q.batch);
  return rest;
}

// Tensors of T for all that is wanted, and standard_attention's pointers to them.
template <class T>
struct Buffers {
  Tensor output;
  std::optional<Tensor> weights, scores, lse;
  StandardOutputs<T> pointers;

  Buffers(const AttentionCall<T>& call, const WantedOutputs& wanted) : output(dtype_of<T>(), call.output_arrangement.shape()) {
    const Arrangement& q = call.output_arrangement;
    const std::vector<Index> scores_shape = leading_shape(q, {call.shape.seq_q, call.shape.seq_k});
    if (wanted.weights || wanted.scores == ScoresStage::softmax) pointers.weights = add(weights, scores_shape);
    if (wanted.scores == ScoresStage::raw) pointers.raw = add(scores, scores_shape);
    if (wanted.scores == ScoresStage::capped) pointers.capped = add(scores, scores_shape);
    if (wanted.scores == ScoresStage::masked) pointers.masked = add(scores, scores_shape);
    if (wanted.lse) pointers.lse = add(lse, leading_shape(q, {call.shape.seq_q}));
  }

  static T* add(std::optional<Tensor>& tensor, const std::vector<Index>& shape) {
    tensor.emplace(dtype_of<T>(), shape);
    return tensor->as<T>().data();
  }
};

template <class T>
void copy_row(const std::vector<T>& row, T* to, Index at) {
  if (to != nullptr) std::copy(row.begin(), row.end(), to + at);
}

template <class T>
void run_reference(const AttentionCall<T>& call, const AttentionTensors<T>& tensors, const StandardOutputs<T>& out) {
  const AttentionShape& shape = call.shape;
  parallel_for(shape.batch * shape.heads * shape.seq_q, threads(), [&](Index at) {
    const Index b = at / (shape.heads * shape.seq_q);
    const Index h = at / shape.seq_q % shape.heads;
    const Index i = at % shape.seq_q;
    const AttentionRow<T> row = reference_row<T>(shape, tensors.q, tensors.k, tensors.v, call.options, b, h, i);
    std::copy(row.output.begin(), row.output.end(), tensors.o.head(b, h).row(i));
    copy_row(row.raw, out.raw, at * shape.seq_k);
    copy_row(row.capped, out.capped, at * shape.seq_k);
    copy_row(row.masked, out.masked, at * shape.seq_k);
    copy_row(row.weights, out.weights, at * shape.seq_k);
    if (out.lse != nullptr) out.lse[at] = row.lse;
  });
}

}  // namespace

std::string_view algorithm_name(Algorithm algorithm) {
  return algorithm == Algorithm::fused ? "fused" : algorithm == Algorithm::standard ? "standard" : "reference";
}

Algorithm resolve_algorithm(std::optional<Algorithm> chosen, const WantedOutputs& wanted) {
  if (!chosen) return wanted.has_scores() ? Algorithm::standard : Algorithm::fused;
  if (*chosen == Algorithm::fused && wanted.has_scores()) {
    throw UsageError("--algorithm: expected standard or reference, which have scores and weights to save, found 'fused'");
  }
  return *chosen;
}

template <class T>
CallOutputs run_call(const AttentionCall<T>& call, Algorithm algorithm, const WantedOutputs& wanted) {
  Buffers<T> buffers(call, wanted);
  const AttentionTensors<T> tensors = call.tensors(buffers.output.template as<T>().data());
  switch (algorithm) {
    case Algorithm::fused:
      fused_attention(tensors, call.options, buffers.pointers.lse);
      break;
    case Algorithm::standard:
      standard_attention(tensors, call.options, buffers.pointers);
      break;
    case Algorithm::reference:
      run_reference(call, tensors, buffers.pointers);
      break;
  }
  CallOutputs outputs{buffers.output.converted(call.dtype), {}, {}, std::move(buffers.lse)};
  if (buffers.scores) outputs.scores = buffers.scores->converted(call.dtype);
  if (wanted.scores == ScoresStage::softmax) outputs.scores = buffers.weights->converted(call.dtype);
  if (wanted.weights) outputs.weights = buffers.weights->converted(call.dtype);
  return outputs;
}

template CallOutputs run_call(const AttentionCall<float>&, Algorithm, const WantedOutputs&);
template CallOutputs run_call(const AttentionCall<double>&, Algorithm, const WantedOutputs&);

}  // namespace attn
