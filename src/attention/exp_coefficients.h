// Polynomials behind exp-inl.h: minimax approximations P with P(0) = 1, found by Remez' exchange (scripts/make_exp_polynomials.py), and
// the constants that depend on the floating-point format alone.
//
// Each array holds c_1, c_2, ... of P(x) = 1 + c_1 x + c_2 x^2 + ...; the largest relative error stands beside it.
#pragma once

#include <array>

namespace attn {

template <class T>
struct ExpCoefficients;

template <>
struct ExpCoefficients<float> {
  // 2^x for -1/2 <= x <= 1/2: 1.6e-8
  static constexpr std::array<float, 6> exp2 = {0x1.62e430p-1F, 0x1.ebfbdcp-3F,  0x1.c6aee8p-5F,
                                                0x1.3b2d4ep-7F, 0x1.5f3e52p-10F, 0x1.41fb9ap-13F};
  // e^x for |x| <= log(2) / 2: 1.7e-8
  static constexpr std::array<float, 6> exp = {0x1.000000p+0F, 0x1.fffffcp-2F, 0x1.55541ap-3F,
                                               0x1.555822p-5F, 0x1.126780p-7F, 0x1.6ae70ap-10F};
  // log(2) as a sum whose first part times any exponent is exact.
  static constexpr float ln2_high = 0x1.63p-1F;
  static constexpr float ln2_low = -0x1.bd0105c610ca8p-13F;
  // Beyond these e^x is 0, is infinite, and tanh(x) is 1; 2^x is 0 below lowest_exp2.
  static constexpr float lowest_exp = -104.0F;
  static constexpr float highest_exp = 89.0F;
  static constexpr float lowest_exp2 = -152.0F;
  static constexpr float tanh_one = 9.1F;
  static constexpr int mantissa_bits = 23;
  static constexpr int exponent_bias = 127;
  // A power lifted by 2^lift is normal wherever 2^x is not 0, and `lower` takes it back.
  static constexpr int lift = 64;
  static constexpr float lower = 0x1p-64F;
};

template <>
struct ExpCoefficients<double> {
  // 2^x for -1/2 <= x <= 1/2: 2.8e-17
  static constexpr std::array<double, 11> exp2 = {0x1.62e42fefa39efp-1,  0x1.ebfbdff82c5a4p-3,  0x1.c6b08d7049fe8p-5,
                                                  0x1.3b2ab6fba011bp-7,  0x1.5d87fe78cd652p-10, 0x1.4309130ed886dp-13,
                                                  0x1.ffcbfba9a7f9fp-17, 0x1.62bfc79dec44cp-20, 0x1.b5267c8e623eep-24,
                                                  0x1.e61b4e9f73758p-28, 0x1.e79c300385657p-32};
  // e^x for |x| <= log(2) / 2: 1.1e-17
  static constexpr std::array<double, 11> exp = {0x1.0000000000000p+0,  0x1.000000000000bp-1,  0x1.55555555554b4p-3,  0x1.555555555018dp-5,
                                                 0x1.111111112f7e1p-7,  0x1.6c16c1855c4b9p-10, 0x1.a01a0111ea2eap-13, 0x1.a019975809aa8p-16,
                                                 0x1.71df48852248bp-19, 0x1.28af9b0e27ff6p-22, 0x1.ad59e67dd15fcp-26};
  static constexpr double ln2_high = 0x1.62e42fefa0000p-1;
  static constexpr double ln2_low = 0x1.cf79abc9e3b3ap-40;
  static constexpr double lowest_exp = -746.0;
  static constexpr double highest_exp = 710.0;
  static constexpr double lowest_exp2 = -1077.0;
  static constexpr double tanh_one = 19.1;
  static constexpr int mantissa_bits = 52;
  static constexpr int exponent_bias = 1023;
  // A power lifted by 2^lift is normal wherever 2^x is not 0, and `lower` takes it back.
  static constexpr int lift = 512;
  static constexpr double lower = 0x1p-512;
};

}  // namespace attn
