"""How the plots look: on white, in colours that the colour-blind can tell apart (Okabe and Ito, 2008), lines named where they end."""
import matplotlib
import matplotlib.ticker

import series

COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#a0a000")
AREAS = ("#56b4e9", "#e69f00", "#0072b2", "#cc79a7", "#009e73")
MARKERS = "osD^vPX*"

# Text stays text, so that files are small and can be searched; hashsalt makes the same call write the same file.
matplotlib.rcParams.update({
    "svg.fonttype": "none", "svg.hashsalt": "attn", "font.family": "sans-serif", "font.size": 11, "figure.facecolor": "white",
    "axes.grid": True, "grid.color": "0.9", "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
    "legend.fontsize": 9.5, "axes.axisbelow": True,
})


def points(number):
    """Markers on a thin line."""
    color = COLORS[number % len(COLORS)]
    return {"color": color, "marker": MARKERS[number % len(MARKERS)], "markersize": 5, "linewidth": 1.5, "capsize": 2.5}


def ceiling(linestyle, number):
    return {"color": ("0.45", "0.7", "0.25")[number % 3], "linestyle": linestyle, "linewidth": 1.5}


def finish(axes, sizes):
    """The sizes that were measured as marks of x, at most about ten of them; plain numbers on y; the legend."""
    step = -(-len(sizes) // 10)
    axes.set_xticks(sizes[::step], [series.size_label(n) for n in sizes[::step]])
    axes.xaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    if axes.get_yscale() == "log":
        low, high = axes.get_ylim()
        narrow = high < 200 * low  # powers of ten alone would be too few marks
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(subs=(1, 2, 5) if narrow else (1,), numticks=20))
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda y, _: f"{y:g}"))
    axes.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
    axes.legend()
