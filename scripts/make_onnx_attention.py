#!/usr/bin/env python3
"""Makes data/onnx_attention/ from the test cases of ONNX's operator Attention that the `onnx` package generates.

Each case whose graph is that one node becomes NAME.npz, with the node's inputs and outputs under their own names, and an entry in
cases.json: attributes, names, and the tolerances of ONNX's runner. (The other cases are the same expanded into simpler operators.)
bfloat16 arrays are stored as NumPy stores them, as two-byte void.

    python make_onnx_attention.py FOLDER      needs onnx==1.23.2, numpy; in a virtual environment of its own
"""
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test.case.node.attention  # noqa: F401  registers the cases
from onnx.backend.test.case.node import collect_testcases

# Positions of the node's inputs and outputs; those left out have the name "".
INPUTS = ["q", "k", "v", "mask", "past_k", "past_v", "kv_lengths"]
OUTPUTS = ["output", "present_k", "present_v", "scores"]


def present(names, roles, arrays):
    """The arrays by role: the data lists only what the node names or what is not empty at the end."""
    named = [role for role, name in zip(roles, names) if name]
    assert len(named) == len(arrays), (names, len(arrays))
    return dict(zip(named, arrays))


def save(path, arrays):
    """A .npz without the time of day in it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            array = np.asarray(array)
            if array.dtype.name == "bfloat16":
                array = array.view("V2")
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(zipfile.ZipInfo(name + ".npy", (1980, 1, 1, 0, 0, 0)), buffer.getvalue(), zipfile.ZIP_DEFLATED)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    cases = []
    for case in collect_testcases("Attention"):
        nodes = case.model.graph.node
        if len(nodes) != 1 or nodes[0].op_type != "Attention":
            continue
        inputs, outputs = case.data_sets[0]
        arrays = present(nodes[0].input, INPUTS, inputs) | present(nodes[0].output, OUTPUTS, outputs)
        save(folder / f"{case.name}.npz", arrays)
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in nodes[0].attribute}
        cases.append({"name": case.name, "attributes": attributes, "arrays": list(arrays), "rtol": case.rtol, "atol": case.atol})
    made = {"onnx": onnx.__version__, "numpy": np.__version__, "cases": cases}
    (folder / "cases.json").write_text(json.dumps(made, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
