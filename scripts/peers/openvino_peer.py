#!/usr/bin/env python3
"""OpenVINO on the CPU: opset 13's scaled_dot_product_attention, inputs and output in memory that is reused.

By itself it computes in bfloat16 where the processor has it; it is held to float32, as its rows say they are. It has no float64.
"""
from peer_common import Body, Library, Unsupported, run_peer


def load(threads):
    import numpy as np
    import openvino as ov
    from openvino import opset13

    core = ov.Core()
    settings = {"INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "PERFORMANCE_HINT": "LATENCY", "INFERENCE_PRECISION_HINT": "f32"}

    def node_types(compiled):
        """What the plugin made of the graph, inputs and results left out."""
        types = [str(node.get_rt_info()["layerType"].value) for node in compiled.get_runtime_model().get_ops()]
        return " ".join(name for name in types if name not in ("Input", "Output", "Parameter", "Result"))

    def make_request(compiled, arrays, output):
        request = compiled.create_infer_request()
        for i, array in enumerate(arrays):
            request.set_input_tensor(i, ov.Tensor(array, shared_memory=True))
        request.set_output_tensor(0, ov.Tensor(output, shared_memory=True))
        return request

    def prepare(case, _algorithm, buffers):
        if case.dtype != "f32":
            raise Unsupported("the CPU plugin computes float64 in float32")
        if case.heads != case.kv_heads:
            raise Unsupported("the operator has as many key heads as query heads")
        parameters = [opset13.parameter(array.shape, np.float32, name=name) for name, array in zip("qkv", buffers[0])]
        attention = opset13.scaled_dot_product_attention(*parameters, causal=case.causal)
        compiled = core.compile_model(ov.Model([attention], parameters), "CPU", settings)
        output = np.zeros((case.batch, case.heads, case.seq_q, case.head_dim_v), np.float32)
        requests = [make_request(compiled, arrays, output) for arrays in buffers]
        return Body(lambda i: requests[i].infer(), lambda _: output, node_types(compiled))

    return Library({"openvino": ov.__version__}, None, prepare)


if __name__ == "__main__":
    raise SystemExit(run_peer("openvino", load))
