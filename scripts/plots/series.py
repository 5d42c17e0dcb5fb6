"""Rows made lines of a plot: which belong together, what tells them apart, and how fast they grow. Standard library only."""
import math

# What may tell one line from another, in the order in which names show it.
IDENTITY = ("file", "algorithm", "what", "part", "dtype", "batch", "heads", "kv_heads", "d_model", "head_dim", "head_dim_v", "mask",
            "window_left", "window_right", "softcap", "protocol", "threads", "isa")
# What makes the same work, whoever does it.
PROBLEM = ("flops_convention", "dtype", "batch", "heads", "head_dim", "head_dim_v", "mask", "window_left", "window_right")
SPEAKS_FOR_ITSELF = ("file", "algorithm", "part", "dtype", "protocol", "isa")


def lines(rows, x, identity=IDENTITY):
    """{name: rows sorted by x}; a name has only what differs between the lines."""
    groups = {}
    for row in rows:
        groups.setdefault(tuple(row.get(field) for field in identity), []).append(row)
    differing = [i for i, field in enumerate(identity) if len({key[i] for key in groups}) > 1 and field != "what"]
    if not differing and "algorithm" in identity:
        differing = [identity.index("algorithm")]
    named = {}
    for key, group in groups.items():
        named.setdefault(", ".join(_word(identity[i], key[i]) for i in differing if key[i] is not None), []).extend(group)
    return {name: sorted(group, key=lambda row: row[x]) for name, group in named.items()}


def _word(field, value):
    if field == "mask":
        return "no mask" if value == "none" else value
    return str(value) if field in SPEAKS_FOR_ITSELF else f"{field.replace('_', ' ')} {value}"


def slope(xs, ys):
    """The exponent e of y ~ x^e by least squares of the logarithms; None from fewer than two sizes."""
    if len(set(xs)) < 2:
        return None
    u, v = [math.log(x) for x in xs], [math.log(y) for y in ys]
    mean_u, mean_v = sum(u) / len(u), sum(v) / len(v)
    return sum((a - mean_u) * (b - mean_v) for a, b in zip(u, v)) / sum((a - mean_u) ** 2 for a in u)


def seconds(row):
    """A row's time and half the width of its bar: median and half the interquartile range, or a mean without one."""
    time = row["time_s"]
    return time.get("median", time.get("mean")), time.get("half_iqr") or 0


def size_label(n):
    """65536 as 64k, as the command line takes it."""
    return f"{n // 1024}k" if n >= 10_000 and n % 1024 == 0 else str(n)
