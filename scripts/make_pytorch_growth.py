"""Makes data/pytorch/growth.safetensors: rows of PyTorch's attention by sequence length n and width d, in float64.

q, k, v (n, d) are drawn in this order from np.random.default_rng([n, d]) as standard normals. nN_dD.full and nN_dD.causal hold the rows
0, n // 3, 2 n // 3 and n - 1 of scaled_dot_product_attention's output, called as document 1 calls it.

    python make_pytorch_growth.py FOLDER      needs torch, numpy, safetensors
"""
import sys
from pathlib import Path
import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

SIZES = [(n, 64) for n in (16, 64, 256, 1024, 4096)] + [(256, d) for d in (8, 16, 32, 128, 256, 512)]


def main(folder):
    tensors = {}
    for n, d in SIZES:
        rng = np.random.default_rng([n, d])
        q, k, v = (torch.from_numpy(rng.standard_normal((n, d))) for _ in range(3))
        rows = [0, n // 3, 2 * n // 3, n - 1]
        for name, causal in (("full", False), ("causal", True)):
            tensors[f"n{n}_d{d}.{name}"] = F.scaled_dot_product_attention(q, k, v, is_causal=causal)[rows].contiguous()
    save_file(tensors, folder / "growth.safetensors", metadata={"torch": torch.__version__, "numpy": np.__version__})


main(Path(sys.argv[1]))
