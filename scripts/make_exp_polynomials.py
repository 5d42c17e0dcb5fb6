"""Prints the coefficients of src/attention/exp_coefficients.h, with the largest relative error of each polynomial.

P(x) = 1 + c_1 x + ... + c_n x^n approximates base^x on an interval with the smallest largest relative error, by Remez' exchange in 60
digits; the coefficients are then rounded to the format.

    python make_exp_polynomials.py      needs mpmath
"""
import struct

from mpmath import cos, exp, log, lu_solve, matrix, mp, mpf, nstr, pi, polyval

mp.dps = 60
GRID = 500


def extrema(error, low, high):
    """The largest |error| of every stretch of one sign, as (x, error)."""
    found = []
    for i in range(GRID + 1):
        x = low + (high - low) * i / GRID
        e = error(x)
        if e == 0:
            continue
        if not found or (found[-1][1] > 0) != (e > 0):
            found.append((x, e))
        elif abs(e) > abs(found[-1][1]):
            found[-1] = (x, e)
    return found


def remez(function, weight, low, high, degree):
    """Coefficients of the polynomial of that degree with the smallest max |weight (function - P)|, and that maximum."""
    count = degree + 2
    points = [(low + high) / 2 - (high - low) / 2 * cos(pi * i / (count - 1)) for i in range(count)]
    points = [x if abs(x) > 1e-6 else (high - low) / 40 for x in points]
    for _ in range(12):
        system, right = matrix(count, count), matrix(count, 1)
        for i, x in enumerate(points):
            for j in range(degree + 1):
                system[i, j] = x**j
            system[i, degree + 1] = (-1) ** i / weight(x)
            right[i] = function(x)
        solution = lu_solve(system, right)
        coefficients = [solution[j] for j in range(degree + 1)]
        found = extrema(lambda x: weight(x) * (function(x) - polyval(coefficients[::-1], x)), low, high)
        while len(found) > count:
            found.pop(0 if abs(found[0][1]) < abs(found[-1][1]) else -1)
        if len(found) < count:
            break
        points = [x for x, _ in found]
    return coefficients, max(abs(e) for _, e in found)


def rounded(x, float_type):
    if float_type == "float":
        return mpf(struct.unpack("f", struct.pack("f", float(x)))[0])
    return mpf(float(x))


def fit(log_base, low, high, degree, float_type):
    """Rounded c_1 ... c_degree and the polynomial's largest relative error."""

    def quotient(x):
        return (exp(log_base * x) - 1) / x if abs(x) > mpf(10) ** -30 else log_base

    exact, _ = remez(quotient, lambda x: abs(x) / exp(log_base * x), mpf(low), mpf(high), degree - 1)
    coefficients = [rounded(c, float_type) for c in exact]
    error = extrema(lambda x: polyval(coefficients[::-1] + [1], x) / exp(log_base * x) - 1, mpf(low), mpf(high))
    return coefficients, max(abs(e) for _, e in error)


for float_type, degree in (("float", 6), ("double", 11)):
    half = log(2) / 2
    for name, log_base, low, high in (
        ("2^x, |x| <= 1/2", log(2), -0.5, 0.5),
        ("e^x, |x| <= log(2) / 2", mpf(1), -half, half),
    ):
        coefficients, error = fit(log_base, low, high, degree, float_type)
        suffix = "F" if float_type == "float" else ""
        print(f"{float_type} {name}: {nstr(error, 2)}")
        print("  " + ", ".join(float(c).hex() + suffix for c in coefficients))
