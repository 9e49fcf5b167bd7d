"""What `examples/nano/nano_pipeline.py` runs: lengths and sizes, runs of GRPO, evaluations."""

import sys
from collections.abc import Mapping
from typing import Any

import train_nano

_SPATIAL = {"spatial": {"weight": 1.5, "tau_km": 750.0}}
_NAMES = {"semantic": 1.0, "consistency": {"weight": 0.5, "withhold": "conclusion", "bounds": [20.0, 60.0]}}
ARMS: dict[str, dict[str, Any]] = {
    "levels": {}, "city": {"reward": "geovista-city"}, "nocold": {"from": "base"}, "bare": {"bare": True},
    "spatial": {"from": "sft", "beside_main": True, "toolless": True, "reward": {"point": "answer", "parts": _SPATIAL}},
    "reasons": {
        "from": "sft", "beside_main": True, "toolless": True,
        "reward": {"point": "answer", "parts": {**_SPATIAL, **_NAMES}},
    },
}  # fmt: skip
"""Runs of GRPO that are compared, each with two seeds: what differs from "grpo" in the plan.

The last two are GeoAgent's reward, of a policy that writes three levels with reasons and has no tools. Distances fade
over 750 km in place of 200, and reasons are held against lengths of a nano model."""

PLAN: dict[str, Any] = {
    "size": "nano", "held_out": 1000, "compared": 500, "scenes": 2560, "tried": 640, "teachers": 10, "speakers": 6,
    "painters": 3, "loaders": 3, "own_cores": 6, "pool_gb": 46, "start": None, "early": True,
    # Seconds of each stage, its learning rate, tokens a step and most steps; words end when enough is said rightly.
    "words": {"seconds": 100, "rate": 4e-4, "tokens": 16384, "steps": 2400, "enough": 0.965},
    "base": {"seconds": 180, "rate": 4e-4, "tokens": 65536, "steps": 2800},
    "sft": {"seconds": 80, "rate": 4e-4, "tokens": 65536, "steps": None},
    "coldstart": {"seconds": 130, "rate": 4e-4, "tokens": 65536, "steps": None},
    "grpo": {
        "seconds": 450, "rate": 2e-5, "steps": 100, "prompts": 8, "group": 8, "micro": 16, "reward": "geovista",
        "tries": False, "tries_workers": 12, "failed_cost": 0.0,
    },
    "runs": {
        "main": {
            "workers": 12, "prompts": 32, "micro": 32, "reward": "twm", "fade": True, "failed_cost": 0.1, "rate": 6e-5,
            "steps": 400, "seconds": 540,
        },
        **{f"{name}-{seed}": {**how, "seed": seed} for seed in (1, 2) for name, how in ARMS.items()},
    },
}  # fmt: skip
""""start" may name the policy of an earlier run, which is taught on in place of random weights and words. Stages of no
seconds are left out: what follows goes on from the stage before. Steps that are None follow from the speed of "base".
"early" false leaves out the evaluations of stages before GRPO.

"main" runs first, with the short runs that are "beside_main". The other runs of GRPO follow side by side. They are
compared with each other: each has the same number of steps, and its policy is evaluated on the first "compared"
held-out scenes. A run that is "bare" learns
without tools, and is evaluated with them; one that is "toolless" has none at all. "reward" names a preset, or is a
reward as `geosleuth.lab.score.rewards` reads it. "tries" lets the cold start try scenes, and drops those that teach
nothing."""

KEPT = tuple(train_nano.MIXES["coldstart"])
"""Lessons that are drawn from in the last stage; others are deleted after it, for the memory they may lie in."""
NEEDED = ("make", "maps", "words", "base", "sft", "cold", "tries")
EARLY: tuple[tuple[Any, ...], ...] = (
    ("e-cold", "cold"), ("e-cold-bare", "cold", "--no-tools"),
    ("e-base", "base"), ("e-base-bare", "base", "--no-tools"),
    ("e-sft", "sft"), ("e-sft-bare", "sft", "--no-tools"),
)  # fmt: skip
"""Evaluations that need no run of GRPO: a name, the policy, options."""
LATE: tuple[tuple[Any, ...], ...] = (
    ("e-main-bare", "g-main", "--no-tools"),
    *(
        (f"e-main-{control.replace(' ', '-')}", "g-main", "--control", control)
        for control in train_nano.CONTROLS
        if control != "none"
    ),
)
"""Control conditions of the policy of "main", on the first "compared" held-out scenes."""


def changed(plan: Mapping[str, Any], by: Mapping[str, Any]) -> dict[str, Any]:
    """A plan with what differs. Runs are replaced as a whole, stages setting by setting.

    Raises:
        SystemExit: the plan knows no such setting.
    """
    merged = dict(plan)
    for name, value in by.items():
        if name not in plan:
            sys.exit(f"nano_pipeline: the plan has no {name!r}; --show-plan prints all that it has")
        if name != "runs" and isinstance(value, Mapping):
            if unknown := sorted(value.keys() - plan[name].keys()):
                sys.exit(f"nano_pipeline: {name!r} has no {unknown[0]!r}; --show-plan prints all that it has")
            merged[name] = {**plan[name], **value}
        else:
            merged[name] = value
    if not merged["base"]["seconds"] and any(how.get("from") == "base" for how in merged["runs"].values()):
        sys.exit("nano_pipeline: a run of GRPO starts from the stage base, which the plan leaves out")
    if "main" not in merged["runs"]:
        sys.exit("nano_pipeline: the plan has no run called main, which the last evaluations are of")
    return merged
