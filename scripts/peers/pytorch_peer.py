#!/usr/bin/env python3
"""PyTorch: torch.nn.functional.scaled_dot_product_attention on the CPU.

    pytorch         as called by default: it chooses a backend, which the row names
    pytorch-fused   held to its fused backends
    pytorch-math    held to the plain one, which stores all scores

It has no argument for the output: each call allocates one.
"""
from peer_common import Body, Library, Unsupported, run_peer


def chosen(torch, case, q, k, v):
    """The backend that the default call takes for these tensors; None where this version does not tell."""
    if not hasattr(torch, "_fused_sdp_choice"):
        return None
    number = torch._fused_sdp_choice(q, k, v, is_causal=case.causal, enable_gqa=case.heads != case.kv_heads)
    return next((name for name, backend in torch.nn.attention.SDPBackend.__members__.items() if int(backend) == number), str(number))


def require(context, call):
    """Raises Unsupported where the backends that the context allows cannot do the call."""
    try:
        with context():
            call()
    except RuntimeError as error:
        raise Unsupported(str(error)) from error


def load(threads):
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    backends = {
        "pytorch-fused": [SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION],
        "pytorch-math": [SDPBackend.MATH],
    }

    def prepare(case, algorithm, buffers):
        tensors = [tuple(torch.from_numpy(array) for array in buffer) for buffer in buffers]
        options = dict(is_causal=case.causal, enable_gqa=case.heads != case.kv_heads)

        def attend(q, k, v):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, **options)

        context = None
        if algorithm == "pytorch":
            kernel = chosen(torch, case, *tensors[0])
            stores_scores = None if kernel is None else kernel == "MATH"
        else:
            kernel = " or ".join(backend.name for backend in backends[algorithm])
            stores_scores = algorithm == "pytorch-math"
            context = lambda: sdpa_kernel(backends[algorithm])
            require(context, lambda: attend(*(tensor[:, :, :1] for tensor in tensors[0])))  # one query and key tell as much as all
        return Body(lambda i: attend(*tensors[i]), lambda result: result.numpy(), kernel, stores_scores, context=context)

    return Library({"torch": torch.__version__}, torch.backends.cpu.get_cpu_capability(), prepare)


if __name__ == "__main__":
    raise SystemExit(run_peer("pytorch", load))
