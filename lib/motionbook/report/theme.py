"""One look for all figures: colours that the colour-blind can tell apart, readable in print and on a dark page."""

# One colour per system in every chapter. The hues are those of Okabe and Ito (2008), which stay apart in the three
# common kinds of colour blindness; ground truth is a neutral slate that shows on white and on black.
SYSTEM_COLOURS = {
    "GT": "#56626f",
    "NN": "#0072b2",
    "SLERP": "#e69f00",
    "SLERP-Q": "#009e73",
    "NOISE": "#d55e00",
    "0-velocity": "#cc79a7",
}
# What the papers print stands beside ours in this grey, in tables and figures.
PUBLISHED_COLOUR = "#8a8f98"
# For lines and bars that stand for no system.
CYCLE = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#56626f")
# Systems beyond the papers', the same in every figure.
FURTHER_COLOURS = {
    "Cubic": "#7f8c1f",
    "Ridge": "#2f8186",
    "Perceptron": "#a0642b",
    "Kriging": "#4f5aa8",
    "DELTA": "#8458b3",
    "FLOW": "#b8456b",
}
# For clips that are no system's output, so that nobody takes them for one.
OTHER_COLOURS = ("#3d9bd1", "#8458b3", "#a0642b", "#2f8186", "#b8456b")

_INK = "#22272e"
_RC = {
    "figure.figsize": (6.6, 3.6),
    "figure.dpi": 144,
    "figure.facecolor": "#ffffff",
    "figure.constrained_layout.use": True,
    "savefig.facecolor": "#ffffff",
    "savefig.dpi": 200,
    "font.family": "DejaVu Sans",  # ships with matplotlib, so figures are the same on every machine
    "font.size": 9.5,
    "axes.titlesize": 10.5,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.labelcolor": _INK,
    "axes.edgecolor": "#7a828c",
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": "#e3e6ea",
    "grid.linewidth": 0.7,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "xtick.labelsize": 8.5,
    "ytick.labelsize": 8.5,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "errorbar.capsize": 2.5,
    "image.cmap": "viridis",
    "svg.hashsalt": "motionbook",  # else every SVG has other ids
    "svg.fonttype": "path",
}


def use_theme() -> None:
    """Set matplotlib's defaults for the rest of the notebook."""
    import matplotlib as mpl

    mpl.rcParams.update(_RC)
    mpl.rcParams["axes.prop_cycle"] = mpl.cycler(color=CYCLE)


def system_colour(name: str, index: int = 0) -> str:
    """Colour of a system, by its name or a label that starts with it ("SLERP-Q, fold 2"); others take their own."""
    known = {**SYSTEM_COLOURS, **FURTHER_COLOURS}
    words = sorted(known, key=len, reverse=True)
    match = next((word for word in words if f"{name} ".startswith((f"{word} ", f"{word},", f"{word}:"))), None)
    return known[match] if match else OTHER_COLOURS[index % len(OTHER_COLOURS)]
