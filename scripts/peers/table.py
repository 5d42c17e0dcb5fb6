"""The pooled rows as one table: a heading for each problem, below it who computed it, how fast, and in how many times `attn`'s own time."""
import pooling
import rows

def table(pooled):
    problems = {}
    for row in pooled:
        problems.setdefault(pooling.problem_of(row), []).append(row)
    return "\n\n".join("\n".join(section(group, pooled)) for group in problems.values())


def section(group, pooled):
    """The lines of one problem. Where nobody did it, one line says why."""
    base = next((found for found in (pooling.base_of(row, pooled) for row in group) if found), None)
    if not any(row["time_s"] for row in group):
        reasons = dict.fromkeys(f"{row['status']}: {row['reason']}" for row in group)
        return [f"{heading(group[0])}: {', '.join(row['algorithm'] for row in group)} {'; '.join(reasons)}"]
    times = f"x {base['algorithm']}" if base else ""
    share = "of read" if any(row["read_fraction"] for row in group) else "of peak"
    head = f"  {'algorithm':<17} {'ms':>10} {'±':>8} {'GFLOP/s':>9} {share:>8} {'peak MB':>8} {times:>9}  kernel"
    return [heading(group[0]), head] + [line(row, base) for row in group]


def heading(row):
    what = "scores" if row["what"] == "scores" else "attention"
    parts = [f"{what} {row['dtype']}", f"{row['seq_q']} x {row['seq_k']}", f"d {row['head_dim']}"]
    if row["head_dim_v"] not in (0, row["head_dim"]):
        parts.append(f"d_v {row['head_dim_v']}")
    parts.append(f"heads {row['heads']}" + (f"/{row['kv_heads']}" if row["kv_heads"] != row["heads"] else ""))
    if row["batch"] > 1:
        parts.append(f"batch {row['batch']}")
    if row["mask"] != "none":
        parts.append(row["mask"])
    parts.append(f"threads {row['threads']}")
    parts.append("mean, as document 1 measures" if row["protocol"] == "article" else "median")
    return ", ".join(parts)


def line(row, base):
    name = f"  {row['algorithm']:<17} "
    if not row["time_s"]:
        return f"{name}{row['status']}: {row['reason']}"
    time_s, half_iqr_s = rows.statistic_s(row), row["time_s"]["half_iqr"]
    spread = f"{half_iqr_s * 1e3:.3f}" if half_iqr_s is not None else ""
    fraction = row["read_fraction"] or row["peak_fraction"]
    share = f"{100 * fraction:.1f} %" if fraction else ""
    peak = f"{row['peak_bytes'] / 1e6:.1f}" if row["peak_bytes"] else ""
    times = f"{time_s / rows.statistic_s(base):.2f}" if base else ""
    remark = row["kernel"] or "" if row["status"] == "passed" else f"{row['status']}: {row['reason']}"
    return f"{name}{time_s * 1e3:>10.3f} {spread:>8} {row['gflops']:>9.1f} {share:>8} {peak:>8} {times:>9}  {remark}".rstrip()
