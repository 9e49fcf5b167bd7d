"""Stages of training beside each other, from evaluations that were kept: tables, paired differences, promises.

    python benchmarks/training.py FOLDER [--json] [--check]

FOLDER holds a folder an evaluation, as `geosleuth train evaluate --out` or `lab.train.evaluation.evaluate` writes
them. Their names tell what they are:

    base, coldstart, grpo       the stages, with tools
    grpo-alone                  reinforcement learning from the base, without cold start
    NAME-no-tools               the same policy with all tools switched off
    NAME-tries                  several tries a scene, drawn with a temperature, and the verifier in code
    detective                   the policy in code, on the same scenes

Any other name gets its row too. Nothing is played here. Shares are percent with 95 % intervals; differences are points
over the scenes that both played, scene by scene, with 95 % intervals and a p-value (McNemar's exact test; a sign-flip
test where scenes were tried several times). `--check` exits with 1 where something is missing, or a promise is broken:

- cold start is above the base, and grpo above cold start, at 500 m, 25 km and 750 km,
- grpo gains at least 5 points over cold start at 25 km,
- the verifier is at least 3 points above a single try at 25 km,
- grpo is above the detective at 25 km where signs need zoom or text misleads.
"""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from geosleuth.lab.train.evaluation import (
    ASKED,
    SLICES,
    WITHIN_KM,
    Evaluation,
    compare_scenes,
    compute_scene_figures,
    distance_name,
    read_evaluation,
    slice_figures,
)
from geosleuth.support.errors import UserError

PAIRS = (
    ("base", "coldstart"),
    ("coldstart", "grpo"),
    ("base", "grpo"),
    ("grpo-alone", "grpo"),
    ("detective", "grpo"),
    ("base-no-tools", "base"),
    ("coldstart-no-tools", "coldstart"),
    ("grpo-no-tools", "grpo"),
    ("coldstart-no-tools", "grpo-no-tools"),
)
"""What is held beside what: the second is expected to be the better one."""

PROMISED_KM = (0.5, 25.0, 750.0)
GRPO_GAIN = 5.0
VERIFIER_GAIN = 3.0
HARD = "zoom or misleading"
DISTANCES = [distance_name(km) for km in WITHIN_KM]
AT_25 = distance_name(25.0)

Kept = Mapping[str, Evaluation]


def read_all(home: Path) -> dict[str, Evaluation]:
    """Every evaluation of a folder, by name; the stages first, in their order."""
    order = [name for pair in PAIRS for name in pair]
    found = {path.parent.name: read_evaluation(path.parent) for path in home.glob(f"*/{ASKED}")}
    known = [name for name in dict.fromkeys(order) if name in found]
    return {name: found[name] for name in [*known, *sorted(set(found) - set(known))]}


def differences(kept: Kept) -> dict[str, dict[str, Any]]:
    """The pairs that are there: over all scenes, and over those of each kind."""
    found: dict[str, dict[str, Any]] = {}
    for first, second in PAIRS:
        if first not in kept or second not in kept:
            continue
        one, two = kept[first].scenes, kept[second].scenes
        told: dict[str, Any] = {"whole": compare_scenes(one, two)}
        for name, kind in SLICES.items():
            for value in sorted({kind(scene) for scene in one}):
                mine, theirs = ([scene for scene in side if kind(scene) == value] for side in (one, two))
                if mine and theirs:
                    told[f"{name}: {value}"] = compare_scenes(mine, theirs)
        found[f"{second} over {first}"] = told
    return found


def promises(kept: Kept, gained: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, bool | None]]:
    """What is promised, and whether it is kept; None where it can't be told."""
    for pair in ("coldstart over base", "grpo over coldstart"):
        for km in PROMISED_KM:
            least = GRPO_GAIN if (pair, km) == ("grpo over coldstart", 25.0) else 0.0
            words = f"{pair} at {distance_name(km)}: {'at least' if least else 'above'} {least:g} points"
            value = _gain(gained.get(pair), "whole", distance_name(km))
            yield words, None if value is None else (value >= least if least else value > 0)
    several = next((one for name, one in kept.items() if name.endswith("-tries")), None)
    gain = compute_scene_figures(several.scenes).get("parallel", {}).get(AT_25) if several else None
    words = f"verifier over a single try at {AT_25}: at least {VERIFIER_GAIN:g} points"
    yield words, None if gain is None else gain["verifier_over_single"]["value"] >= VERIFIER_GAIN
    value = _gain(gained.get("grpo over detective"), f"{HARD}: yes", AT_25)
    words = f"grpo over detective at {AT_25} where signs need zoom or text misleads: above 0 points"
    yield words, None if value is None else value > 0


def _gain(told: Mapping[str, Any] | None, part: str, distance: str) -> float | None:
    if told is None or part not in told:
        return None
    return float(told[part]["within"][distance]["value"])


def show(kept: Kept, gained: Mapping[str, Mapping[str, Any]]) -> None:
    """Print all tables, in Markdown."""
    for name, one in kept.items():
        asked = one.asked
        tools = "with tools" if asked.get("with_tools", True) else "without tools"
        words = f"{name}: {asked.get('policy')}, {tools}, {len(one.scenes)} scenes of seed {asked.get('seed')}"
        print(f"{words}; {one.wall_seconds:.0f} s on {one.machine}" if one.machine else words)
    print("\n## Accuracy: percent of scenes within a distance, 95 % interval\n")
    _table(
        ("", *DISTANCES, "median km"),
        ((name, *_accuracy(compute_scene_figures(one.scenes))) for name, one in kept.items()),
    )
    print("\n## Behaviour\n")
    head = ("", "answered %", "uses tools %", "calls", "failed calls %", "turns", "reward", "tokens out", "s a try")
    _table(head, ((name, *_behaviour(compute_scene_figures(one.scenes))) for name, one in kept.items()))
    for name, told in gained.items():
        print(f"\n## {name}: points, 95 % interval, p\n")
        rows = ((part, str(one["scenes"]), *_points(one["within"])) for part, one in told.items())
        _table(("", "scenes", *DISTANCES), rows)
    for name, one in kept.items():
        print(f"\n## {name}, by kind of scene: percent within a distance\n")
        kinds = (
            (f"{what}: {kind}", told) for what, by in slice_figures(one.scenes).items() for kind, told in by.items()
        )
        _table(("", "scenes", *DISTANCES), ((kind, str(told["scenes"]), *_short(told)) for kind, told in kinds))
        if parallel := compute_scene_figures(one.scenes).get("parallel"):
            print(f"\n## {name}: a single try on average, the verifier, the best of all tries\n")
            _table(("", "single", "verifier", "best", "verifier - single", "best - verifier"), _parallel(parallel))


def _table(head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("| --- |" + " ---: |" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")


def _accuracy(figures: Mapping[str, Any]) -> Iterator[str]:
    yield from (_with_interval(figures["within"][name]) for name in DISTANCES)
    yield _plain(figures["median_km"]["value"])


def _short(figures: Mapping[str, Any]) -> Iterator[str]:
    return (_plain(figures["within"][name]["value"]) for name in DISTANCES)


def _behaviour(figures: Mapping[str, Any]) -> Iterator[str]:
    yield _plain(figures["answered"]["value"])
    yield _plain(figures["called"]["value"])
    yield _plain(figures["calls"]["value"], 2)
    yield _plain(figures["failed"]["percent"])
    yield _plain(figures["turns"]["value"], 2)
    yield _plain(figures["reward"]["value"], 3)
    yield _plain(figures["output_tokens"]["value"], 0)
    yield _plain(figures["seconds"]["value"], 2)


def _points(within: Mapping[str, Any]) -> Iterator[str]:
    for name in DISTANCES:
        one = within[name]
        yield f"{one['value']:+.1f} [{_signed(one['low'])}, {_signed(one['high'])}], p {one['p']:.2g}"


def _parallel(parallel: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    for name, one in parallel.items():
        shares = (_plain(one[part]) for part in ("single", "verifier", "best"))
        yield name, *shares, _with_interval(one["verifier_over_single"]), _with_interval(one["best_over_verifier"])


def _with_interval(one: Mapping[str, Any]) -> str:
    return f"{_plain(one['value'])} [{_plain(one['low'])}, {_plain(one['high'])}]"


def _plain(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _signed(value: float | None) -> str:
    return "-" if value is None else f"{value:+.1f}"


def main() -> int:
    """Read, show, and check where asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="holds a folder an evaluation")
    parser.add_argument("--json", action="store_true", help="all figures as JSON")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a promise is broken")
    options = parser.parse_args()
    try:
        kept = read_all(options.folder)
        if not kept:
            print(f"{options.folder}: holds no evaluation", file=sys.stderr)
            return 2
        gained = differences(kept)
    except (UserError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    checked = list(promises(kept, gained))
    if options.json:
        stages = {name: one.to_dict() for name, one in kept.items()}
        print(json.dumps({"stages": stages, "differences": gained, "promises": dict(checked)}, indent=1))
    else:
        show(kept, gained)
        print()
        for words, told in checked:
            print(f"{'not known' if told is None else 'kept' if told else 'missed'}: {words}")
    return 1 if options.check and not all(told for _, told in checked) else 0


if __name__ == "__main__":
    sys.exit(main())
