// The distributions that the tests and intervals need: Student's t, the normal, and the functions behind a prior of variances.
//
// Abramowitz and Stegun, Handbook of Mathematical Functions (1964), chapters 6 and 26.
#pragma once

namespace attn {

// P(|T| >= |t|) for Student's t with `degrees` > 0 of freedom, not necessarily whole; infinity gives the normal distribution.
double student_t_two_sided_p(double t, double degrees);

// The t with P(|T| >= t) = p, for 0 < p < 1: the half width of a confidence interval at level 1 - p, in standard errors.
double student_t_two_sided_quantile(double p, double degrees);

// The first and second derivative of log Gamma, for x > 0.
double digamma(double x);
double trigamma(double x);

// The x > 0 with trigamma(x) = y, for y > 0.
double inverse_trigamma(double y);

}  // namespace attn
