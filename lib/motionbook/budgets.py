"""How much of each chapter is computed: sizes only, never methods.

``smoke`` runs all chapters within ten minutes on two CPU cores, ``reduced`` is for a laptop or a Colab T4, ``full``
has the papers' own sizes.
"""

from types import MappingProxyType

BUDGETS = ("smoke", "reduced", "full")

_SIZES = {
    # pictures of the calibration board by each camera
    "01_capture": {
        "smoke": {"subjects": 2, "seconds": 10.0, "cameras": (2, 3, 4, 6, 8), "board_pictures": 13},
        "reduced": {"subjects": 10, "seconds": 30.0, "cameras": (2, 3, 4, 5, 6, 7, 8), "board_pictures": 25},
        "full": {"subjects": 50, "seconds": 120.0, "cameras": (2, 3, 4, 5, 6, 7, 8), "board_pictures": 60},
    },
    # embedded people of the data set: subjects, seconds of idle and phone per subject, takes of each of 19 actions by
    # each of them ("published": together as many as Table 3 counts), takes that faults are put into and sought in
    "02_cleaning": {
        "smoke": {"subjects": 6, "idle_seconds": 40.0, "phone_seconds": 20.0, "takes": 1, "fault_clips": 4},
        "reduced": {"subjects": 20, "idle_seconds": 120.0, "phone_seconds": 60.0, "takes": 1, "fault_clips": 12},
        "full": {
            "subjects": 50,
            "idle_seconds": 121.2,
            "phone_seconds": 125.2,
            "takes": "published",
            "fault_clips": 24,
        },
    },
    # network: the two-stage transformer on a CPU, steps per stage (None: the papers' size, 199 epochs);
    # reference_steps: of the network of the papers' size on other devices; window_offset: frames between windows that
    # ridge, perceptron and flow are fitted on
    "03_inbetweening": {
        "smoke": {
            "subsets": ("idle",),
            "folds": 2,
            "clips_per_system": 5,
            "network": {"width": 64, "layers": 2, "steps": 100},
            "window_offset": 8,
            "perceptron_steps": 100,
            "delta_steps": 30,
            "flow_steps": 60,
        },
        "reduced": {
            "subsets": ("idle", "phone", "actions"),
            "folds": 5,
            "clips_per_system": 50,
            "network": {"width": 64, "layers": 3, "steps": 500},
            "reference_steps": 2_000,
            "window_offset": 4,
            "perceptron_steps": 400,
            "delta_steps": 2_000,
            "flow_steps": 1_000,
        },
        "full": {
            "subsets": ("idle", "phone", "actions"),
            "folds": 5,
            "clips_per_system": 50,
            "network": None,
            "window_offset": 4,
            "perceptron_steps": 400,
            "delta_steps": 20_000,
            "flow_steps": 1_000,
        },
    },
    # embedded: up to this many prompts that have a performance, each with these seeds (0 to 7 train, 8 validates, 9
    # tests); motions limits a reader's own
    "04_stickfigures": {
        "smoke": {"prompts": 12, "seeds": (0, 8, 9), "motions": 36, "frames": 64, "size": 64, "stress_frames": 8},
        "reduced": {"prompts": 134, "seeds": (0, 8, 9), "motions": 402, "frames": 120, "size": 64, "stress_frames": 21},
        "full": {
            "prompts": 134,
            "seeds": tuple(range(10)),
            "motions": 1340,
            "frames": 120,
            "size": 128,
            "stress_frames": 21,
        },
    },
    # recoveries: simulated studies of the coverage check; demo_*: the small study pages that the chapter builds
    "05_perception": {
        "smoke": {
            "participants": 118,
            "resamples": 10_000,
            "raters": 48,
            "recoveries": 100,
            "demo_clips": 1,
            "demo_seconds": 1.0,
            "demo_fps": 10.0,
            "demo_distortions": ("contact",),
            "demo_levels": (1, 3, 5),
        },
        "reduced": {
            "participants": 118,
            "resamples": 10_000,
            "raters": 48,
            "recoveries": 1_000,
            "demo_clips": 2,
            "demo_seconds": 5.0,
            "demo_fps": 30.0,
            "demo_distortions": ("twist", "intersection"),
            "demo_levels": (1, 2, 3, 4, 5),
        },
        "full": {
            "participants": 118,
            "resamples": 10_000,
            "raters": 48,
            "recoveries": 10_000,
            "demo_clips": 2,
            "demo_seconds": 10.0,
            "demo_fps": 30.0,
            "demo_distortions": ("glide", "moonwalk", "contact", "smoothness", "twist", "intersection"),
            "demo_levels": (1, 2, 3, 4, 5),
        },
    },
    "06_quality": {
        "smoke": {"sources": 2, "vertices": 2_000, "frame_step": 4},
        "reduced": {"sources": 8, "vertices": 5_000, "frame_step": 2},
        "full": {"sources": 8, "vertices": 20_000, "frame_step": 1},
    },
}


def sizes(budget: str, chapter: str) -> MappingProxyType:
    """The sizes of one chapter at one budget, read-only; ValueError or KeyError lists what there is."""
    if budget not in BUDGETS:
        raise ValueError(f"budget: expected one of {', '.join(BUDGETS)}, got {budget!r}")
    if chapter not in _SIZES:
        raise KeyError(f"no chapter {chapter!r}; there are {', '.join(_SIZES)}")
    return MappingProxyType(_SIZES[chapter][budget])
