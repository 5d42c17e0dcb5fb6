#!/usr/bin/env python3
"""Writes data/numpy/more_print_cases.json and data/numpy/round_cases.json: what NumPy prints and how it rounds where print_cases.json
does not look. Floats are written as C99 hex, so that nothing is lost on the way. Needs only NumPy; the files name the version.

    python3 scripts/make_print_cases.py
"""
import json
import pathlib

import numpy as np

DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "numpy"
rng = np.random.default_rng(20240607)


def values_of(a):
    return [float(x).hex() for x in a.ravel()] if a.dtype.kind == "f" else [str(x) for x in a.ravel()]


def print_case(a):
    a = np.asarray(a)
    return {"shape": list(a.shape), "dtype": str(a.dtype), "values": values_of(a), "str": str(a), "repr": repr(a)}


def float_arrays(dtype):
    f = lambda x: np.array(x, dtype)
    info = np.finfo(dtype)
    yield from map(f, ([0.1, 1e-10], [1e6, 1.5], [999999.0, 1.0], [1e8, 1.5], [99999999.0, 1e6], [1e-4], [0.0001, 0.1], [9.9e-5, 0.05]))
    yield from map(f, ([0.1, 100.0], [0.1, 100.1], [1 / 3, 1e-7], [1 / 3, 1e20, -2 / 3], [-0.0], [-0.0, 1e-5], [0.0, -0.0, 2e10]))
    yield from map(f, ([np.inf, 1e-5], [-np.inf, 1e10, np.nan], [np.nan, 1e-30], [-np.inf, 0.5], [np.inf, np.inf], [-np.inf, np.nan]))
    yield from map(f, ([info.max, info.tiny], [info.max, -info.max], [info.smallest_subnormal], [info.tiny], [info.eps, 1 + info.eps]))
    yield from (f(x) for x in (0.0, -0.0, 1e-4, 9.9e-5, 1e15, 1e16, 1.5e16, 1 / 3, 1e5 / 3, 1e-5 / 3, np.inf, -np.inf, np.nan, 7.0, 1e-40))
    yield f(2.0) ** np.arange(-24, 24)                      # powers of two: neighbours at unequal distances
    yield f(2.0) ** rng.integers(info.minexp, info.maxexp, 40)
    yield from (f([2.0**n]) for n in (-96, 87, 90))          # where the nearest decimal of as many digits is float32's neighbour
    yield f([0.5, 1.5, 2.5, 3.5]) * dtype(2.0**-9)           # exact ties in the ninth digit and beyond
    yield f([1.00000000049, 1.0000000005, 1.00000000051])
    yield (rng.normal(size=(5, 6)) * 10.0 ** rng.integers(-12, 12, (5, 6))).astype(dtype)
    yield (rng.normal(size=(7, 3)) * 10.0 ** rng.integers(-2, 3, (7, 3))).astype(dtype)
    yield rng.normal(size=(2, 3, 2, 4)).astype(dtype)
    yield rng.normal(size=(2, 1, 2, 2, 3)).astype(dtype)
    yield rng.normal(size=(8, 9, 15)).astype(dtype)          # summarised in three dimensions
    yield rng.normal(size=(2, 501)).astype(dtype)
    yield np.ones((7, 2, 9, 8), dtype)
    yield np.arange(1000, dtype=dtype)                       # one item fewer than are summarised, and the first that is
    yield np.arange(1001, dtype=dtype)
    yield np.zeros((0, 4, 2), dtype)
    yield np.zeros((2, 0), dtype)
    yield np.zeros((0,), dtype)
    for _ in range(25):
        bits = rng.integers(0, 256, info.bits // 8 * 4, dtype=np.uint8).tobytes()
        yield np.frombuffer(bits, dtype)
    for _ in range(15):
        yield (rng.random((2, 4)) * 10.0 ** rng.integers(-5, 9)).astype(dtype).round(int(rng.integers(-2, 9)))


def other_arrays():
    for dtype in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
        info = np.iinfo(dtype)
        yield np.array([info.min, info.max], dtype)
        yield np.array([[0, 1], [info.max, 3]], dtype)
        yield np.array(info.min, dtype)
        yield rng.integers(info.min, info.max, (3, 9), dtype)
        yield np.zeros((3, 0), dtype)
    yield np.arange(2000)
    yield np.arange(-1100, 0).reshape(11, 10, 10)
    yield np.arange(60) * 10**15
    yield np.arange(1001, dtype=np.uint8).reshape(7, 143)
    yield np.array(True)
    yield np.array(False)
    yield np.ones(60, bool)
    yield np.ones((1,) * 34 + (3,), np.float32)              # brackets alone fill the line
    yield np.ones((1,) * 64, bool)
    yield rng.random((3, 40)) < 0.5
    yield rng.random((2, 3, 4)) < 0.5
    yield rng.random((40, 40)) < 0.5
    yield np.zeros((0,), bool)
    yield np.ones(1001, np.float32)                          # where the type no longer fits behind the last line
    yield from (np.ones(n, np.float32) * np.float32(0.1) for n in range(8, 24))
    yield from (np.arange(n, dtype=np.int16) for n in range(12, 30))


def round_cases():
    for dtype in (np.float64, np.float32):
        a = np.concatenate([
            [0.5, 1.5, 2.5, -0.5, 2.675, 1.005, 0.285, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1.7e308, 12345.678, -0.04, 149.5, 250.0],
            rng.normal(size=30), rng.normal(size=30) * 1e5, rng.integers(-2000, 2000, 30) / 8, rng.integers(-2000, 2000, 30) / 1000,
        ]).astype(dtype)
        for decimals in (-310, -3, -2, -1, 0, 1, 2, 3, 5, 8, 12, 22, 23, 30, 309):
            yield {"dtype": str(a.dtype), "decimals": decimals, "values": values_of(a), "rounded": values_of(np.round(a, decimals))}


def write(name, key, cases):
    lines = ",\n".join(" " + json.dumps(case) for case in cases)
    (DATA / name).write_text(f'{{"numpy": "{np.__version__}", "{key}": [\n{lines}\n]}}\n')


with np.errstate(all="ignore"):
    arrays = [*float_arrays(np.float64), *float_arrays(np.float32), *other_arrays()]
    write("more_print_cases.json", "cases", map(print_case, arrays))
    write("round_cases.json", "cases", round_cases())
