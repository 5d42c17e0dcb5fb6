#!/usr/bin/env python3
"""Writes data/io/: small .npy, .npz and .safetensors files as NumPy, ml_dtypes and safetensors write them, with cases.json that says what is
in them, npy_headers.json with more headers by np.save, and half_cases.npz, roundings to 16 bits.

    pip install numpy==2.4.6 ml_dtypes==0.6.0 safetensors==0.8.0
    python3 scripts/make_io_cases.py
"""
import io
import json
import pathlib
import shutil
import struct
import zipfile

import ml_dtypes
import numpy as np
from numpy.lib import format as npy_format
from safetensors.numpy import save_file

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "data" / "io"
rng = np.random.default_rng(6)
cases = []

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("f2", "f4", "f8")] + [BFLOAT16]
INTEGERS = [np.dtype(t) for t in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8")]
ALL = FLOATS + INTEGERS + [np.dtype(bool)]


def sample(dtype, shape):
    """Numbers that tell byte orders and signs apart; the first are the type's extremes."""
    count = int(np.prod(shape))
    if dtype == bool:
        return (rng.random(count) < 0.5).reshape(shape)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        a = rng.integers(info.min, info.max, count, dtype, endpoint=True)
        a[:2] = [info.min, info.max][:count]
        return a.reshape(shape)
    a = rng.normal(size=count)
    a[:5] = [-0.0, np.inf, -np.inf, np.nan, 1e-7][:count]
    return a.astype(dtype).reshape(shape)


def add(location, a, written_like_this=False):
    is_float = a.dtype.newbyteorder("=") in FLOATS
    values = [float(x).hex() if is_float else str(int(x)) for x in a.ravel()]
    cases.append({"location": location, "dtype": a.dtype.name, "shape": list(a.shape), "values": values, "np_save": written_like_this})


def npy(name, a, version=None):
    """`version` None: np.save, whose bytes ours must equal if `a` is C-ordered and in native byte order."""
    path = DATA / "npy" / f"{name}.npy"
    if version is None:
        np.save(path, a)
    else:
        with open(path, "wb") as file:
            npy_format.write_array(file, a, version=version)
    add(f"npy/{name}.npy", a, version is None and a.flags.c_contiguous and a.dtype.isnative)


def npy_files():
    for dtype in ALL:
        npy(dtype.name, sample(dtype, (2, 3)))
        if dtype.itemsize > 1 and dtype != BFLOAT16:
            npy(f"{dtype.name}_big_endian", sample(dtype, (7,)).astype(dtype.newbyteorder(">")))
    for dtype in (np.dtype("f4"), BFLOAT16, np.dtype(bool)):
        npy(f"{dtype.name}_0d", sample(dtype, ()))
        npy(f"{dtype.name}_empty", sample(dtype, (0, 3)))
        npy(f"{dtype.name}_fortran", np.asfortranarray(sample(dtype, (2, 3, 4))))
    npy("float64_fortran", np.asfortranarray(sample(np.dtype("f8"), (5, 3))))
    npy("int8_fortran", np.asfortranarray(sample(np.dtype("i1"), (2, 1, 3, 2))))
    npy("float64_fortran_big_endian", np.asfortranarray(sample(np.dtype(">f8").newbyteorder("="), (3, 4)).astype(">f8")))
    npy("float32_fortran_empty", np.asfortranarray(np.zeros((3, 0, 2), "f4")))
    npy("long_shape", sample(np.dtype("u1"), (1,) * 30 + (2,) + (1,) * 20))
    npy("version_2", sample(np.dtype("f8"), (3,)), (2, 0))
    npy("version_3", sample(np.dtype("f8"), (3,)), (3, 0))
    # Python 2 wrote long integers with an L; older ml_dtypes wrote bfloat16 without a byte order.
    raw = (DATA / "npy" / "float32.npy").read_bytes()
    (DATA / "npy" / "python2.npy").write_bytes(raw.replace(b"(2, 3), }  ", b"(2L, 3L), }"))
    add("npy/python2.npy", np.load(DATA / "npy" / "float32.npy"))
    raw = (DATA / "npy" / "bfloat16.npy").read_bytes()
    (DATA / "npy" / "bfloat16_void.npy").write_bytes(raw.replace(b"'<V2'", b"'|V2'"))
    add("npy/bfloat16_void.npy", np.load(DATA / "npy" / "bfloat16.npy").view(BFLOAT16))


def npy_headers():
    """What np.save writes before the elements, for every length of the shape's text: the padding depends on it."""
    for rank in range(24):
        for last in (7, 77, 777, 7777):
            a = np.zeros((1,) * rank + (last,), ALL[(rank + last) % len(ALL)])
            buffer = io.BytesIO()
            np.save(buffer, a)
            yield {"dtype": a.dtype.name, "shape": list(a.shape), "header": buffer.getvalue()[: -a.nbytes].hex()}


class Pipe(io.RawIOBase):
    """Cannot seek, so that zipfile writes sizes behind the data."""

    def __init__(self):
        self.bytes = b""

    def writable(self):
        return True

    def write(self, data):
        self.bytes += bytes(data)
        return len(data)


def npz_files():
    arrays = {"a": sample(np.dtype("f4"), (3, 2)), "b": sample(np.dtype("i8"), (4,)), "c.npy": np.arange(500.0), "empty": np.zeros((0, 2))}
    folder = DATA / "npz"
    np.savez(folder / "stored.npz", **arrays)
    np.savez_compressed(folder / "deflated.npz", **arrays)
    pipe = Pipe()
    np.savez_compressed(pipe, **arrays)
    (folder / "streamed.npz").write_bytes(pipe.bytes)
    pipe = Pipe()
    np.savez(pipe, **arrays)
    (folder / "streamed_stored.npz").write_bytes(pipe.bytes)
    for archive in ("stored", "deflated", "streamed", "streamed_stored"):
        for name, a in arrays.items():
            add(f"npz/{archive}.npz#{name}", a)
            add(f"npz/{archive}.npz#{name}.npy", a)
    np.savez(folder / "single.npz", only=arrays["a"])
    add("npz/single.npz", arrays["a"])
    # A member whose name lacks the suffix, as other programs write them, beside one that has it.
    with zipfile.ZipFile(folder / "plain_names.npz", "w") as archive:
        for name in ("x", "folder/y", "z.npy"):
            with archive.open(name, "w") as file:
                npy_format.write_array(file, arrays["b"])
            add(f"npz/plain_names.npz#{name}", arrays["b"])
    add("npz/plain_names.npz#z", arrays["b"])
    zip64(folder / "zip64.npz", arrays["a"])
    add("npz/zip64.npz#a", arrays["a"])


def zip64(path, a):
    """One stored member with its sizes and places in ZIP64 fields alone, as archives beyond 4 GB have them."""
    buffer = io.BytesIO()
    np.save(buffer, a)
    data = buffer.getvalue()
    crc = zipfile.crc32(data)
    name = b"a.npy"
    big = 0xFFFFFFFF
    extra = struct.pack("<HHQQ", 1, 16, len(data), len(data))
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0x21, crc, big, big, len(name), len(extra)) + name + extra + data
    extra = struct.pack("<HHQQQ", 1, 24, len(data), len(data), 0)
    central = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0x21, crc, big, big, len(name), len(extra), 0, 0, 0, 0, big)
    central += name + extra
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, len(central), len(local))
    locator = struct.pack("<IIQI", 0x07064B50, 0, len(local) + len(central), 1)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, big, big, 0)
    path.write_bytes(local + central + end64 + locator + end)
    assert np.array_equal(np.load(path)["a"], a, equal_nan=True)


def safetensors_files():
    tensors = {f"layer.{d.name}": sample(d, (2, 3)) for d in ALL}
    tensors |= {"scalar": sample(np.dtype("f4"), ()), "empty": np.zeros((0, 3), "f2"), "name # with hash": sample(np.dtype("f8"), (3,))}
    save_file(tensors, DATA / "safetensors" / "all.safetensors", metadata={"made by": "scripts/make_io_cases.py"})
    for name, a in tensors.items():
        add(f"safetensors/all.safetensors#{name}", a)
    save_file({"only": tensors["layer.float64"]}, DATA / "safetensors" / "single.safetensors")
    add("safetensors/single.safetensors", tensors["layer.float64"])
    save_file({}, DATA / "safetensors" / "none.safetensors")
    for path in (DATA / "safetensors").iterdir():
        path.chmod(0o644)


def half_cases():
    halves = np.arange(0x7C00, dtype=np.uint16).view("f2").astype("f8")
    picked = rng.choice(len(halves) - 1, 400)
    middle = (halves[picked] + halves[picked + 1]) / 2
    extremes = [0.0, 65504, 65519.99, 65520, 65536, 1e38, 3.3895314e38, 3.4e38, 2.0**-24, 2.0**-25, 2.0**-26, 2.0**-133, 2.0**-134, 1e-40, np.inf]
    f64 = np.concatenate([extremes, middle, np.nextafter(middle, 0), np.nextafter(middle, 1e9), 10 ** rng.uniform(-12, 6, 400)])
    f64 = np.concatenate([f64, -f64])
    f32 = np.concatenate([f64.astype("f4"), np.frombuffer(rng.bytes(4000), "f4")])
    f32 = f32[~np.isnan(f32)]
    np.savez_compressed(DATA / "half_cases.npz", f32=f32, f16_of_f32=f32.astype("f2"), bf16_of_f32=f32.astype(BFLOAT16), f64=f64,
                        f16_of_f64=f64.astype("f2"))


for folder in ("npy", "npz", "safetensors"):
    shutil.rmtree(DATA / folder, ignore_errors=True)
    (DATA / folder).mkdir(parents=True)
with np.errstate(all="ignore"):
    npy_files()
    npz_files()
    safetensors_files()
    half_cases()
versions = f'"numpy": "{np.__version__}", "ml_dtypes": "{ml_dtypes.__version__}"'
for name, content in {"cases": cases, "npy_headers": list(npy_headers())}.items():
    lines = ",\n".join(" " + json.dumps(case) for case in content)
    (DATA / f"{name}.json").write_text(f'{{{versions}, "cases": [\n{lines}\n]}}\n')
