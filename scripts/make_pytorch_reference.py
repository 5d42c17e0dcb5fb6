"""Makes data/pytorch/: reference outputs of PyTorch's scaled_dot_product_attention.

One .safetensors file per shape and type holds q, k, v (batch, heads, seq, dim) and for each call on them: mask.CALL where
there is one, out.CALL (what the call gave, in the type of q) and out_f64.CALL (PyTorch's plain "math" implementation on the
same inputs widened to float64). cases.json lists files, calls and their options. A row without any visible key is zeros.

    python make_pytorch_reference.py FOLDER      needs torch, numpy, safetensors
"""
import json, sys
from pathlib import Path
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.attention.bias import causal_lower_right

DTYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SHAPES = {  # batch, heads, kv_heads, seq_q, seq_k, head_dim, head_dim_v
    "document": (1, 1, 1, 6, 6, 8, 8),
    "small": (2, 3, 3, 9, 9, 5, 5),
    "tiles": (1, 1, 1, 67, 67, 32, 32),
    "grouped": (1, 6, 2, 17, 65, 16, 16),
    "one_kv_head": (2, 4, 1, 5, 33, 24, 12),
    "decode": (1, 2, 1, 1, 129, 64, 64),
    "more_queries": (1, 1, 1, 19, 7, 3, 2),
    "one_key": (2, 2, 2, 3, 1, 4, 4),
    "wide": (1, 1, 1, 10, 20, 136, 72),
}


def inputs(rng, shape, dtype, gain):
    b, h, hk, sq, sk, d, dv = shape
    make = lambda *s: torch.from_numpy(rng.standard_normal(s)).to(dtype)
    return make(b, h, sq, d) * gain, make(b, hk, sk, d) * gain, make(b, hk, sk, dv)


def masks(rng, shape):
    """Each option set by name: keyword arguments of the call, and for JSON what they mean."""
    b, h, _, sq, sk, _, _ = shape
    keep = torch.from_numpy(rng.random((sq, sk)) < 0.6)
    keep[:, 0] = True
    hole = keep.clone()
    hole[sq // 2] = False  # one row sees nothing
    lengths = torch.from_numpy(rng.integers(1, sk + 1, size=b))
    padding = (torch.arange(sk)[None, :] < lengths[:, None])[:, None, None, :]
    distance = (torch.arange(sk)[None, :] - torch.arange(sq)[:, None]).abs().to(torch.float64)
    slopes = torch.tensor([2.0 ** -(i + 1) for i in range(h)], dtype=torch.float64)
    alibi = -(slopes[:, None, None] * distance)[None]
    yield "none", {}
    yield "causal", {"is_causal": True}
    yield "causal_lower_right", {"lower_right": True}
    yield "bool", {"attn_mask": keep}
    yield "bool_empty_row", {"attn_mask": hole}
    yield "bool_padding", {"attn_mask": padding}
    yield "float_alibi", {"attn_mask": alibi}
    yield "float_neg_inf", {"attn_mask": torch.where(keep, 0.0, -torch.inf).to(torch.float64)}
    yield "scale", {"scale": 0.37}


def call(q, k, v, shape, options, backend=None):
    options = dict(options)
    _, h, hk, sq, sk, _, _ = shape
    if options.pop("lower_right", False):
        options["attn_mask"] = causal_lower_right(sq, sk)._materialize("cpu")
    if "attn_mask" in options and options["attn_mask"].is_floating_point():
        options["attn_mask"] = options["attn_mask"].to(q.dtype)
    if backend is None:
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=h != hk, **options)
    with sdpa_kernel(backend):
        return F.scaled_dot_product_attention(q, k, v, enable_gqa=h != hk, **options)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for shape_name, shape in SHAPES.items():
        for dtype_name, dtype in DTYPES.items():
            for gain_name, gain in (("", 1.0), ("_peaked", 12.0)):
                if gain_name and shape_name not in ("tiles", "grouped"):
                    continue
                name = f"{shape_name}{gain_name}_{dtype_name}"
                rng = np.random.default_rng([len(files), 7])
                q, k, v = inputs(rng, shape, dtype, gain)
                tensors, calls = {"q": q, "k": k, "v": v}, []
                for call_name, options in masks(rng, shape):
                    if options.get("lower_right") and shape[3] > shape[4]:
                        continue  # PyTorch leaves rows without a key undefined there
                    tensors[f"out.{call_name}"] = call(q, k, v, shape, options)
                    tensors[f"out_f64.{call_name}"] = call(q.double(), k.double(), v.double(), shape, options, SDPBackend.MATH)
                    if "attn_mask" in options:
                        mask = options["attn_mask"]
                        tensors[f"mask.{call_name}"] = mask if mask.dtype == torch.bool else mask.to(dtype)
                    causal = "top-left" if options.get("is_causal") else "bottom-right" if options.get("lower_right") else None
                    calls.append({"name": call_name, "mask": "attn_mask" in options, "causal": causal, "scale": options.get("scale")})
                save_file({n: t.contiguous() for n, t in tensors.items()}, folder / f"{name}.safetensors")
                files.append({"file": f"{name}.safetensors", "dtype": dtype_name, "heads": shape[1], "kv_heads": shape[2], "calls": calls})
    made = {"torch": torch.__version__, "numpy": np.__version__, "cpu": torch.backends.cpu.get_cpu_capability(), "files": files}
    (folder / "cases.json").write_text(json.dumps(made, indent=1) + "\n")

    rng = np.random.default_rng(0)  # document 1
    x = rng.normal(size=(6, 16))
    w_q, w_k, w_v = (rng.normal(size=(16, 8)) / np.sqrt(16) for _ in range(3))
    q, k, v = (torch.tensor(x @ w, dtype=torch.float64) for w in (w_q, w_k, w_v))
    for name, causal in (("full", False), ("causal", True)):
        np.save(folder / f"document1_{name}.npy", F.scaled_dot_product_attention(q, k, v, is_causal=causal).numpy())


main(Path(sys.argv[1]))
