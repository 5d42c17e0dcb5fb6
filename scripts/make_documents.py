#!/usr/bin/env python3
"""Takes the printed blocks and figures of the two articles out of their text, into data/documents/.

    python3 scripts/make_documents.py ARTICLE_1.txt ARTICLE_2.txt

Document 1 is "Self-attention from scratch in NumPy (checked against PyTorch)", document 2 "Self-attention from scratch".
<document>-<block>.txt holds a block as it is printed there, character for character. Three files hold figures that document 1 states
in words, one per line in a form of our own: 1-token-0 (whose weight token 0 takes), 1-causal, 1-growth.
"""
import re
import subprocess
import sys
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "data" / "documents"


def lines_from(text, first, count):
    """`count` lines from the one that begins with `first`."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(first))
    return lines[start : start + count]


def main(article_1, article_2):
    one, two = (Path(p).read_text(encoding="utf-8") for p in (article_1, article_2))
    blocks = {
        "1-example": lines_from(one, "output: (", 3),
        "1-token-0": [f"token {token} {share}%" for share, token in re.findall(r"(\d+)% token (\d+)", one)],
        "1-causal": [
            "token 0 to itself " + re.search(r"its weight is (\d\.\d\d)", one)[1],
            "last row " + re.search(r"its row is (identical)", one)[1],
        ],
        "1-pytorch": lines_from(one, "causal=False", 2),
        "1-scaling": lines_from(one, "  d_k |", 6),
        "1-timing": lines_from(one, "n=  512", 4),
        "1-growth": ["memory x" + re.search(r"multiplies memory by (\d+)", one)[1]],
        "2-shapes": lines_from(two, "Q shape:", 1),
        "2-weights": lines_from(two, "scores shape:", 4),
        "2-mask": lines_from(two, "causal mask:", 17),
    }
    OUT.mkdir(parents=True, exist_ok=True)
    for name, lines in blocks.items():
        (OUT / f"{name}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    sums = subprocess.run(["xxhsum", "-H2", *sorted(f"{name}.txt" for name in blocks)], cwd=OUT, check=True, capture_output=True, text=True)
    (OUT / "XXH128SUMS").write_text(sums.stdout)


main(*sys.argv[1:])
