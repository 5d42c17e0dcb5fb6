"""One function for each kind of panel: draws rows of that kind on matplotlib axes."""
import functools

import series
import style


def time(axes, rows, ceilings):
    """Time over n. Points are medians with half the interquartile range as bars; straight lines are fits, and the legend has their slopes."""
    for number, (name, group) in enumerate(series.lines(rows, "seq_q").items()):
        sizes = [row["seq_q"] for row in group]
        times = [series.seconds(row)[0] * 1e3 for row in group]
        bars = [series.seconds(row)[1] * 1e3 for row in group]
        exponent = series.slope(sizes, times)
        label = name if exponent is None else f"{name}: n^{exponent:.2f}"
        axes.errorbar(sizes, times, yerr=bars, label=label, **style.points(number))
    _ceilings(axes, rows, ceilings)
    axes.set(xscale="log", yscale="log", xlabel="n", ylabel="time, ms")
    style.finish(axes, sorted({row["seq_q"] for row in rows}))


def _ceilings(axes, rows, ceilings):
    """The least time for a problem's operations at the rate, and for its bytes at the bandwidth, that were measured on the machine."""
    problems = series.lines([row for row in rows if row.get("flops")], "seq_q", series.PROBLEM)
    rate = {name: max((row["peak_gflops"] for row in group if row.get("peak_gflops")), default=None) for name, group in problems.items()}
    bandwidth = ceilings.get("copy")
    for number, (name, group) in enumerate(problems.items()):
        suffix = f", {name}" if len(problems) > 1 else ""
        if rate[name]:
            _least(axes, group, "flops", rate[name], f"arithmetic, {rate[name]:.3g} GFLOP/s{suffix}", "--", number)
        if bandwidth:
            _least(axes, group, "bytes_model", bandwidth, f"bandwidth, {bandwidth:.3g} GB/s{suffix}", ":", number)


def _least(axes, rows, amount, giga_per_s, label, linestyle, number):
    least = {}
    for row in rows:
        if row.get(amount):
            least[row["seq_q"]] = min(row[amount] / giga_per_s / 1e6, least.get(row["seq_q"], float("inf")))
    axes.plot(sorted(least), [least[n] for n in sorted(least)], label=label, **style.ceiling(linestyle, number))


def _curve(axes, rows, field, label, number):
    """One field over d_k, with its standard error as a bar where the rows have one."""
    rows = sorted((row for row in rows if row.get(field) is not None), key=lambda row: row["head_dim"])
    bars = [row.get(field + "_error") or 0 for row in rows]
    axes.errorbar([row["head_dim"] for row in rows], [row[field] for row in rows], yerr=bars, label=label, **style.points(number))


def spread(axes, rows, _ceilings_of_env):
    """Standard deviation of the scores over d_k, beside sqrt(d_k)."""
    for number, (name, group) in enumerate(_by_file(rows)):
        _curve(axes, group, "std_of_scores", f"{name}std of the scores", number)
    sizes = sorted({row["head_dim"] for row in rows})
    axes.plot(sizes, [n**0.5 for n in sizes], label="√d_k", **style.ceiling("--", 0))
    axes.set(xscale="log", yscale="log", xlabel="d_k", ylabel="standard deviation of the scores")
    style.finish(axes, sizes)


def top_weight(axes, rows, _ceilings_of_env):
    """Mean largest weight over d_k, with and without the division by sqrt(d_k)."""
    for number, (name, group) in enumerate(_by_file(rows)):
        _curve(axes, group, "top_weight_unscaled", f"{name}unscaled", 2 * number + 1)
        _curve(axes, group, "top_weight_scaled", f"{name}scaled", 2 * number)
    axes.set(xscale="log", xlabel="d_k", ylabel="mean largest weight", ylim=(0, 1.02))
    style.finish(axes, sorted({row["head_dim"] for row in rows}))


def gradients(axes, rows, _ceilings_of_env):
    """Norm of the softmax's Jacobian, and of the gradient that reaches a query, scaled and not."""
    sizes = sorted({row["head_dim"] for row in rows})
    number = 0
    for name, group in _by_file(rows):
        for scaled in (False, True):
            half = [row for row in group if (row["softmax_scale"] != 1) == scaled]
            word = "scaled" if scaled else "unscaled"
            _curve(axes, half, "jacobian_norm", f"{name}softmax's Jacobian, {word}", number)
            _curve(axes, half, "query_gradient", f"{name}gradient of q, {word}", number + 1)
            number += 2
    axes.set(xscale="log", yscale="log", xlabel="d_k", ylabel="mean norm")
    style.finish(axes, sizes)


def layer(algorithm, axes, rows, _ceilings_of_env):
    """Shares of one transformer layer's time over n, as areas, with attention by one algorithm."""
    parts = {}
    for row in rows:
        if row["part"] != "attention" or row["algorithm"] == algorithm:
            parts.setdefault(row["part"], {})[row["seq_q"]] = series.seconds(row)[0]
    sizes = sorted(set.intersection(*(set(times) for times in parts.values())))
    whole = [sum(times[n] for times in parts.values()) for n in sizes]
    shares = [[100 * times[n] / all_parts for n, all_parts in zip(sizes, whole)] for times in parts.values()]
    axes.stackplot(sizes, shares, labels=list(parts), colors=style.AREAS, edgecolor="white", linewidth=0.8)
    axes.set(xscale="log", xlim=(sizes[0], sizes[-1]), ylim=(0, 100), xlabel="n", ylabel="share of the layer's time, %")
    axes.set_title(f"{algorithm} attention", fontsize=11)
    style.finish(axes, sizes)
    axes.legend(loc="lower left", frameon=True, framealpha=0.9, edgecolor="none")


def _by_file(rows):
    names = dict.fromkeys(row["file"] for row in rows)
    return [(f"{name}: " if name else "", [row for row in rows if row["file"] == name]) for name in names]


def weights(axes, rows, _ceilings_of_env):
    """A head's weights, or one weight in all heads, in the colours of `attn figure`."""
    row = rows[0]
    values = row.get("weights", row.get("weights_by_head"))
    image = axes.imshow(values, cmap="viridis", vmin=0, aspect="equal")
    axes.set(xlabel="key" if "weights" in row else "head", ylabel="query" if "weights" in row else "layer")
    axes.grid(False)
    axes.figure.colorbar(image, ax=axes)


PANELS = {"time": (time,), "scaling": (spread, top_weight), "gradients": (gradients,), "layer": (functools.partial(layer, "standard"), functools.partial(layer, "fused")), "weights": (weights,)}
