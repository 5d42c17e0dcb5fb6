"""Draws documents' rows into pictures; scripts/plot runs it in the environment that has matplotlib."""
import argparse
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import documents
import panels


def parse():
    parser = argparse.ArgumentParser(prog="plot")
    parser.add_argument("--title", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--outs", nargs="+")
    parser.add_argument("--files", nargs="+")
    return parser.parse_args()


def figure(groups, ceilings, title):
    """One panel beside another."""
    chosen = [(panel, rows) for kind, rows in groups.items() for panel in panels.PANELS[kind]]
    drawn, all_axes = plt.subplots(1, len(chosen), figsize=(6.4 * len(chosen), 4.6), squeeze=False, layout="constrained")
    for axes, (panel, rows) in zip(all_axes[0], chosen):
        panel(axes, rows, ceilings)
    if title:
        drawn.suptitle(title)
    return drawn


def main():
    args = parse()
    only = args.only.split(",") if args.only else []
    unknown = [kind for kind in only if kind not in documents.KINDS]
    if unknown:
        print(f"plot: --only: expected some of {','.join(documents.KINDS)}, found '{unknown[0]}'", file=sys.stderr)
        return 2
    try:
        rows, ceilings = documents.rows_of(args.files)
    except documents.DocumentFault as fault:
        print(f"plot: {fault}", file=sys.stderr)
        return 3
    groups = documents.by_kind(rows, only)
    if not groups:
        print("plot: the files hold no row that can be drawn", file=sys.stderr)
        return 2
    drawn = figure(groups, ceilings, args.title)
    for path in args.outs:
        try:
            drawn.savefig(path, dpi=150, metadata={"Date": None} if path.endswith(".svg") else None)
        except OSError as error:
            print(f"plot: {path}: {error.strerror}", file=sys.stderr)
            return 3
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
