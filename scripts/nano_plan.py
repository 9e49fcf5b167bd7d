"""What `scripts/nano_pipeline.py` runs: lengths and sizes, runs of GRPO, evaluations."""

import sys
from collections.abc import Mapping
from typing import Any

import train_nano

PLAN: dict[str, Any] = {
    "size": "nano", "held_out": 1000, "scenes": 768, "teachers": 10, "speakers": 6, "painters": 2, "loaders": 3,
    "own_cores": 6, "pool_gb": 46, "start": None, "early": True,
    # Seconds of each stage, its learning rate, tokens a step and most steps; words end when enough is said rightly.
    "words": {"seconds": 120, "rate": 4e-4, "tokens": 16384, "steps": 2400, "enough": 0.965},
    "base": {"seconds": 300, "rate": 4e-4, "tokens": 65536, "steps": 2800},
    "sft": {"seconds": 30, "rate": 4e-4, "tokens": 65536, "steps": None},
    "coldstart": {"seconds": 250, "rate": 4e-4, "tokens": 65536, "steps": None},
    "sizes": [300, 1200, 5000, 100000], "size_steps": 250,
    "grpo": {
        "seconds": 640, "rate": 4e-5, "steps": 400, "prompts": 16, "group": 8, "micro": 16, "first_share": 0.44,
        "decide_after": 0.5, "tries_workers": 4, "failed_cost": 0.0,
    },
    "tried": 768,
    "runs": {
        "main": {
            "workers": 12, "prompts": 32, "micro": 32, "reward": "twm", "fade": True, "tries": True, "failed_cost": 0.1,
        },
        "ours": {}, "nocold": {"from": "base"}, "twm": {"reward": "twm"},
        "geoagent": {"reward": "geoagent-spatial"}, "spotagent": {"reward": "spotagent"},
        "geovista": {"reward": "geovista"},
        "betalow": {"late": True, "reward": "geovista", "options": {"beta": 1.5}},
        "betahigh": {"late": True, "reward": "geovista", "options": {"beta": 4.0}},
        "group4": {"late": True, "group": 4, "prompts": 32}, "group16": {"late": True, "group": 16, "prompts": 8},
        "passk": {"late": True, "objective": "pass@k"}, "filtered": {"late": True, "tries": True},
        "random": {"late": True, "seed": 1},
    },
}  # fmt: skip
""""start" may name the policy of an earlier run, which is taught on in place of random weights and words. Stages of no
seconds are left out: what follows goes on from the stage before. Steps that are None follow from the speed of "base".
"early" false leaves out the evaluations before GRPO.

Runs of GRPO but "main" end after the same number of steps, which is decided once the speed of the first ones is
known: as many as the slowest can do in the first share of the time, or one more than the fastest has done by then. The
late ones follow when the first have been evaluated: all at once would not fit into the memory of one GPU."""

KEPT = tuple(train_nano.MIXES["coldstart"])
"""Lessons that are drawn from after the cold start too; others are deleted by then, for the memory they may lie in."""
NEEDED = ("make", "maps", "words", "base", "sft", "cold", "tries")
EARLY: tuple[tuple[Any, ...], ...] = (
    ("e-cold", "cold"), ("e-cold-bare", "cold", "--no-tools"), ("e-cold-4", "cold", "--attempts", 4, "--workers", 10),
    ("e-base", "base"), ("e-base-bare", "base", "--no-tools"),
    ("e-sft", "sft"), ("e-sft-bare", "sft", "--no-tools"),
)  # fmt: skip
"""Evaluations that need no run of GRPO: a name, the policy, options."""
LATE: tuple[tuple[Any, ...], ...] = (
    ("e-main-4", "g-main", "--attempts", 4, "--workers", 10), ("e-main-bare", "g-main", "--no-tools"),
)  # fmt: skip


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
