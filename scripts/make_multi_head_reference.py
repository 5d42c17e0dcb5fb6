#!/usr/bin/env python3
"""Writes data/pytorch/multi_head.safetensors: both documents' worked examples with several heads and batches, by PyTorch in float64.

Seed 0, the documents' sizes. From one stream of normals come, in this order: x (batch, seq, d_model); W_q, W_k (d_model, heads * d_k) and
W_v (d_model, heads * d_v), head h's columns side by side from h * d_k on; W_o (heads * d_v, d_model). Document 1 divides each W by the
square root of its number of rows. Each tensor is named documentD.headsH.batchB.full or .causal: the output (batch, seq, d_model) of
scaled_dot_product_attention on all heads, and of the product with W_o.

Where heads * d_k = d_model, torch.nn.functional.multi_head_attention_forward computes the same thing, and must agree.

    pip install torch numpy safetensors
    python3 scripts/make_multi_head_reference.py data/pytorch
"""
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.torch import save_file

DOCUMENTS = {1: (6, 16, 8, 8), 2: (4, 6, 8, 8)}  # seq, d_model, d_k, d_v
HEADS, BATCHES = (1, 2, 4, 8), (1, 2, 4)


def draw(document, heads, batch):
    seq, d_model, d_k, d_v = DOCUMENTS[document]
    rng = np.random.default_rng(0)
    x = rng.normal(size=(batch, seq, d_model))
    shapes = [(d_model, heads * d_k), (d_model, heads * d_k), (d_model, heads * d_v), (heads * d_v, d_model)]
    weights = [rng.normal(size=shape) for shape in shapes]
    if document == 1:
        weights = [w / np.sqrt(w.shape[0]) for w in weights]
    return [torch.from_numpy(a) for a in (x, *weights)]


def by_heads(x, w_q, w_k, w_v, w_o, heads, causal):
    q, k, v = ((x @ w).unflatten(-1, (heads, -1)).transpose(1, 2) for w in (w_q, w_k, w_v))
    out = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    return out.transpose(1, 2).flatten(2) @ w_o


def by_module(x, w_q, w_k, w_v, w_o, heads, causal):
    x = x.transpose(0, 1)  # (seq, batch, d_model)
    seq, _, d_model = x.shape
    mask = torch.triu(torch.ones(seq, seq, dtype=torch.bool), 1) if causal else None
    out, _ = F.multi_head_attention_forward(x, x, x, d_model, heads, torch.cat([w_q, w_k, w_v], 1).T, None, None, None, False, 0.0, w_o.T, None,
                                            attn_mask=mask, need_weights=False)
    return out.transpose(0, 1)


def main(folder):
    tensors, compared = {}, 0
    for document, (_, d_model, d_k, _) in DOCUMENTS.items():
        for heads in HEADS:
            for batch in BATCHES:
                drawn = draw(document, heads, batch)
                for name, causal in (("full", False), ("causal", True)):
                    out = by_heads(*drawn, heads, causal)
                    if heads * d_k == d_model:
                        torch.testing.assert_close(by_module(*drawn, heads, causal), out, rtol=1e-13, atol=1e-14)
                        compared += 1
                    tensors[f"document{document}.heads{heads}.batch{batch}.{name}"] = out.contiguous()
    assert compared > 0
    save_file(tensors, folder / "multi_head.safetensors", {"torch": torch.__version__, "numpy": np.__version__})


main(Path(sys.argv[1]))
