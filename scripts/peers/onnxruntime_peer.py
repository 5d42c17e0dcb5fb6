#!/usr/bin/env python3
"""ONNX Runtime on the CPU: a graph of one node, outputs bound to memory that is reused.

    onnxruntime       the standard's Attention, opset 23; inputs (batch, heads, seq, dim)
    onnxruntime-mha   com.microsoft.MultiHeadAttention; inputs (batch, seq, heads * dim), its own layout, made outside the clock

`kernel` names the node that was left after optimisation, or says how many smaller ones took its place where the runtime has no kernel for
it. Neither has float64: the graph that replaces Attention rounds the scale to float32.
"""
import contextlib
import os
import tempfile

from peer_common import Body, Library, Unsupported, run_peer

ONNX_OPSET = 23     # the first with Attention
IR_VERSION = 11     # that came with opset 23


def attention_node(onnx, case):
    return onnx.helper.make_node("Attention", ["q", "k", "v"], ["o"], is_causal=int(case.causal))


def mha_node(onnx, case):
    return onnx.helper.make_node("MultiHeadAttention", ["q", "k", "v"], ["o"], domain="com.microsoft", num_heads=case.heads,
                                 unidirectional=int(case.causal))


def model_bytes(onnx, case, node, arrays, output_shape):
    """A serialised graph with this node alone."""
    element = {"f32": onnx.TensorProto.FLOAT, "f64": onnx.TensorProto.DOUBLE}[case.dtype]
    inputs = [onnx.helper.make_tensor_value_info(name, element, array.shape) for name, array in zip("qkv", arrays)]
    output = onnx.helper.make_tensor_value_info("o", element, output_shape)
    graph = onnx.helper.make_graph([node], "attention", inputs, [output])
    opsets = [onnx.helper.make_opsetid("", ONNX_OPSET), onnx.helper.make_opsetid("com.microsoft", 1)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=IR_VERSION).SerializeToString()


def open_session(onnx, ort, model, threads):
    """A session, and what it runs in words. Raises Unsupported where the runtime cannot."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    handle, path = tempfile.mkstemp(suffix=".onnx")
    os.close(handle)
    try:
        options.optimized_model_filepath = path
        session = ort.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        nodes = [f"{node.domain or 'ai.onnx'}.{node.op_type}" for node in onnx.load(path).graph.node]
        return session, nodes[0] if len(nodes) == 1 else f"{len(nodes)} nodes in its place"
    except Exception as error:
        raise Unsupported(str(error)) from error
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def load(threads):
    import numpy as np
    import onnx
    import onnxruntime as ort

    ort.set_default_logger_severity(3)

    def token_major(array):
        """(batch, heads, seq, dim) -> (batch, seq, heads * dim)"""
        batch, heads, seq, dim = array.shape
        return np.ascontiguousarray(array.transpose(0, 2, 1, 3).reshape(batch, seq, heads * dim))

    def head_major(case, array):
        return array.reshape(case.batch, case.seq_q, case.heads, case.head_dim_v).transpose(0, 2, 1, 3)

    def bind(session, arrays, output):
        binding = session.io_binding()
        values = [ort.OrtValue.ortvalue_from_numpy(array) for array in arrays]
        for name, value in zip("qkv", values):
            binding.bind_ortvalue_input(name, value)
        binding.bind_ortvalue_output("o", output)
        return binding, values

    def prepare(case, algorithm, buffers):
        mha = algorithm == "onnxruntime-mha"
        if case.dtype != "f32":
            raise Unsupported("no kernel for float64")
        if mha and case.heads != case.kv_heads:
            raise Unsupported("MultiHeadAttention has as many key heads as query heads")
        arrays = [tuple(map(token_major, buffer)) for buffer in buffers] if mha else buffers
        shape = (case.batch, case.seq_q, case.heads * case.head_dim_v) if mha else (case.batch, case.heads, case.seq_q, case.head_dim_v)
        node = mha_node(onnx, case) if mha else attention_node(onnx, case)
        session, kernel = open_session(onnx, ort, model_bytes(onnx, case, node, arrays[0], shape), threads)
        output = ort.OrtValue.ortvalue_from_numpy(np.zeros(shape, buffers[0][0].dtype))
        bindings = [bind(session, inputs, output) for inputs in arrays]
        read = (lambda _: head_major(case, output.numpy())) if mha else (lambda _: output.numpy())
        # MultiHeadAttention works tile by tile unless it is causal; measured, as its documentation does not say.
        return Body(lambda i: session.run_with_iobinding(bindings[i][0]), read, kernel, not mha or case.causal)

    return Library({"onnxruntime": ort.__version__, "onnx": onnx.__version__}, None, prepare)


if __name__ == "__main__":
    raise SystemExit(run_peer("onnxruntime", load))
