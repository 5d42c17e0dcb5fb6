#include "attention/exp_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/exp_kernels.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

#include "attention/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attn {
namespace HWY_NAMESPACE {

template <class T>
void evaluate_all(ExpFunction function, std::vector<T>& values) {
  const hn::ScalableTag<T> d;
  for (std::size_t i = 0; i < values.size(); i += hn::Lanes(d)) {
    const auto x = hn::LoadU(d, values.data() + i);
    if (function == ExpFunction::exp) hn::StoreU(exp(d, x), d, values.data() + i);
    if (function == ExpFunction::exp_nonpositive) hn::StoreU(exp_nonpositive(d, x), d, values.data() + i);
    if (function == ExpFunction::exp2_nonpositive) hn::StoreU(exp2_nonpositive(d, x), d, values.data() + i);
    if (function == ExpFunction::tanh) hn::StoreU(tanh(d, x), d, values.data() + i);
  }
}

void evaluate_f32(ExpFunction function, std::vector<float>& values) { evaluate_all(function, values); }
void evaluate_f64(ExpFunction function, std::vector<double>& values) { evaluate_all(function, values); }

}  // namespace HWY_NAMESPACE
}  // namespace attn
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attn {

HWY_EXPORT(evaluate_f32);
HWY_EXPORT(evaluate_f64);

void evaluate(ExpFunction function, std::vector<float>& values) { HWY_DYNAMIC_DISPATCH(evaluate_f32)(function, values); }
void evaluate(ExpFunction function, std::vector<double>& values) { HWY_DYNAMIC_DISPATCH(evaluate_f64)(function, values); }

}  // namespace attn
#endif
