"""The tables of examples/nano/README.md, from the folders that `examples/nano/train_nano.py` leaves behind.

    python examples/nano/nano_results.py RUNS > tables.md
    python examples/nano/nano_results.py examples/nano/nano_runs.tar.xz   the run of examples/nano/README.md

RUNS holds an evaluation as e-NAME, a run of GRPO as g-NAME with its evaluation in it. What is missing is named on
stderr and left out. NAME-bare is without tools, NAME-1 and NAME-2 are two seeds of one arm of a comparison.
"""

import argparse
import json
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from geosleuth.lab.train.evaluation import SLICES, Evaluation, compare_scenes, compute_scene_figures, read_evaluation
from geosleuth.lab.train.play import PlayedScene
from geosleuth.support.errors import BadInput

FAR = ("0.5 km", "25 km", "750 km")
NEAR = "25 km"
SEARCHES = {"geocode", "clues"}
"""Tools of the method nano that ask the map."""
STAGES = {"base": "base", "sft": "fine-tuning", "cold": "cold start", "main": "GRPO"}
GAINS = (("base", "cold"), ("cold", "main"))
CONTROLS = {
    "main": "GRPO",
    "main-blank-image": "grey in place of the picture",
    "main-other-image": "the picture of another scene",
    "main-other-tools": "tools read the signs of another scene",
    "main-bare": "no tools",
    "main-pixels": "signs read from pixels",
}
SEEDS = (1, 2)
COMPARED = {
    "coldstart": {"levels": "GRPO after cold start", "nocold": "GRPO from the base"},
    "hierarchy": {"levels": "reward by levels", "city": "reward for the city alone"},
    "toolfree": {"cold": "cold start, no GRPO", "levels": "GRPO with tools", "bare": "GRPO without tools, tools later"},
    "reasons": {"spatial": "spatial reward", "reasons": "spatial, semantic and consistency"},
}
"""What is compared: an arm, or a stage, and its words. All of an arm's seeds count."""
TITLES = {
    "coldstart": "With and without cold start",
    "hierarchy": "Hierarchical and city-only reward",
    "toolfree": "Learning without tools, answering with them",
    "reasons": "Three levels with reasons, no tools: spatial reward, and all of GeoAgent's",
}
HARD = ("needs zoom", "misleading text", "zoom or misleading")
"""Slices of `geosleuth.lab.train.evaluation` on which the detective is met."""


class Runs:
    """Evaluations by their names, each read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Evaluation | None] = {}

    def evaluation(self, name: str) -> Evaluation | None:
        """That of a policy, or None where there is none."""
        if name not in self._read:
            self._read[name] = None
            for place in (self._folder / f"g-{name}" / "evaluation", self._folder / f"e-{name}"):
                if (place / "scenes.jsonl").is_file():
                    self._read[name] = read_evaluation(place)
            if self._read[name] is None:
                print(f"missing: an evaluation of {name}", file=sys.stderr)
        return self._read[name]

    def record(self, name: str) -> dict[str, Any] | None:
        """What a stage or a run of GRPO has written of itself, or None where there is nothing."""
        path = self._folder / name
        if not path.is_file():
            print(f"missing: {name}", file=sys.stderr)
            return None
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    def history(self, name: str) -> list[Mapping[str, Any]]:
        """What a run of GRPO has logged, step by step."""
        record = self.record(f"g-{name}/grpo.json")
        return record["history"] if record else []

    def arm(self, name: str) -> tuple[PlayedScene, ...]:
        """The scenes of an arm, each with a try of every seed; of a stage, its own."""
        kept = [one for seed in SEEDS if (one := self.evaluation(f"{name}-{seed}"))] if name != "cold" else []
        if name == "cold":
            found = self.evaluation(name)
            return found.scenes if found else ()
        by_number = [{scene.number: scene for scene in one.scenes} for one in kept]
        common = sorted(set.intersection(*map(set, by_number))) if by_number else []
        return tuple(
            replace(by_number[0][number], tries=tuple(one for seed in by_number for one in seed[number].tries))
            for number in common
        )

    def steps(self, name: str) -> str:
        """How many steps a run of GRPO had, as words after its name; nothing for other policies."""
        return f", {len(self.history(name))} steps" if (self._folder / f"g-{name}").is_dir() else ""


def main() -> None:
    """Print tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path, help="a folder, or an archive of it")
    given = parser.parse_args()
    if given.runs.is_dir():
        print_all(Runs(given.runs))
        return
    with TemporaryDirectory() as folder, tarfile.open(given.runs) as archive:
        archive.extractall(folder, filter="data")
        print_all(Runs(Path(folder)))


def print_all(runs: Runs) -> None:
    """Print the tables of what is there."""
    tools = {
        f"{name}{bare}": f"{words}{', no tools' if bare else ''}"
        for name, words in STAGES.items()
        for bare in ("", "-bare")
    }
    print_table("Stages", runs, tools)
    print_gains("Gains, paired by scene, in points", runs, GAINS)
    print_by_clue(runs)
    print_table("Controls", runs, CONTROLS)
    print_gains("Controls, less the policy itself", runs, [("main", one) for one in CONTROLS if one != "main"])
    for name, rows in COMPARED.items():
        print_arms(TITLES[name], runs, rows)
    print_against_detective(runs)
    print_speed(runs)


def show(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table in Markdown; none where it has no rows."""
    rows = list(rows)
    if not rows:
        return
    print(f"\n**{title}**\n\n| {' | '.join(columns)} |\n|{' --- |' * len(columns)}")
    for row in rows:
        print(f"| {' | '.join(row)} |")


def print_table(title: str, runs: Runs, rows: Mapping[str, str], fewest: int = 1) -> None:
    """Shares within distances, and how tools are used; nothing where fewer policies are there."""
    columns = ("policy", "scenes", *FAR, "tries with calls", "calls a try", "calls that fail")
    found = [(words, one) for name, words in rows.items() if (one := runs.evaluation(name))]
    if len(found) >= fewest:
        show(title, columns, (row_of(words, one.figures) for words, one in found))


def row_of(words: str, figures: Mapping[str, Any]) -> list[str]:
    """One line of a table."""
    failed = figures["failed"]["percent"]
    made = "none made" if failed is None else f"{failed:.1f} % of {figures['failed']['calls']:,}"
    within = (interval(figures["within"][far]) for far in FAR)
    called, calls = figures["called"]["value"], figures["calls"]["value"]
    return [words, str(figures["scenes"]), *within, f"{called:.1f} %", f"{calls:.2f}", made]


def interval(figure: Mapping[str, float]) -> str:
    """A value and its 95 % interval."""
    return f"{figure['value']:.1f} ({figure['low']:.1f} to {figure['high']:.1f})"


def print_gains(title: str, runs: Runs, pairs: Iterable[tuple[str, str]]) -> None:
    """What one policy adds to another, scene by scene."""
    rows = []
    for one, two in pairs:
        before, after = runs.evaluation(one), runs.evaluation(two)
        if before and after:
            within = compare_scenes(before.scenes, after.scenes)["within"]
            rows.append([one, two, *(f"{interval(within[far])}, p {within[far]['p']:.2g}" for far in FAR)])
    show(title, ("from", "to", *FAR), rows)


def print_by_clue(runs: Runs) -> None:
    """What cold start and GRPO do where scenes show much or little, beside the detective."""
    sides = [runs.evaluation(name) for name in ("cold", "main", "detective")]
    played = [[*one.scenes] for one in sides if one]
    if len(played) < len(sides):
        return
    rows = []
    for by in ("finest clue", "needs zoom"):
        for kind in sorted({SLICES[by](scene) for scene in played[0]}):
            alike = [[one for one in scenes if SLICES[by](one) == kind] for scenes in played]
            shares = (interval(compute_scene_figures(scenes)["within"][NEAR]) for scenes in alike)
            searches = (f"{searches_of(scenes):.2f}" for scenes in alike[:2])
            rows.append([f"{by}: {kind}", str(len(alike[0])), *shares, *searches])
    who = ("cold start", "GRPO", "detective")
    columns = ("scenes", "how many", *(f"{one}, {NEAR}" for one in who), *(f"searches, {one}" for one in who[:2]))
    show("By what scenes show", columns, rows)


def searches_of(scenes: Sequence[PlayedScene]) -> float:
    """How often the map was asked, a try."""
    used = [one.tools for scene in scenes for one in scene.tries]
    return sum(tools.get(name, 0) for tools in used for name in SEARCHES) / len(used)


def print_arms(title: str, runs: Runs, rows: Mapping[str, str]) -> None:
    """Every seed of every arm, and what each arm has over the first, all seeds together, scene by scene."""
    seeds = {
        f"{arm}-{seed}": f"{words}{runs.steps(f'{arm}-{seed}')}, seed {seed}"
        for arm, words in rows.items()
        if arm != "cold"
        for seed in SEEDS
    }
    print_table(title, runs, {"cold": rows["cold"], **seeds} if "cold" in rows else seeds, fewest=2)
    first, *others = rows
    differences = []
    for other in others:
        sides = runs.arm(first), runs.arm(other)
        if all(sides):
            within = compare_scenes(*sides)["within"]
            differences.append(
                [
                    f"{rows[other]} less {rows[first]}",
                    *(f"{interval(within[far])}, p {within[far]['p']:.2g}" for far in FAR),
                ]
            )
    show(f"{title}: differences, seeds together", ("difference", *FAR), differences)


def print_against_detective(runs: Runs) -> None:
    """The policy and the detective on the scenes that need a closer look, or mislead."""
    ours, theirs = runs.evaluation("main"), runs.evaluation("detective")
    if not ours or not theirs:
        return
    rows = []
    for words in ("all", *HARD):
        sides = [
            [scene for scene in side.scenes if words == "all" or SLICES[words](scene) == "yes"]
            for side in (theirs, ours)
        ]
        if not all(sides):
            continue
        for name, scenes in zip(("detective", "GRPO"), sides, strict=True):
            within = compute_scene_figures(scenes)["within"]
            rows.append([f"{words}, {len(scenes)}", name, *(interval(within[far]) for far in FAR)])
        gains = compare_scenes(*sides)["within"]
        rows.append([words, "difference", *(interval(gains[far]) for far in FAR)])
    show("Against the detective", ("scenes", "policy", *FAR), rows)


def print_speed(runs: Runs) -> None:
    """Steps of every stage and run, what a step took, and how busy the GPU was."""
    rows = []
    for name in ("words", "base", "sft", "cold"):
        if one := runs.record(f"{name}/study.json"):
            busy = f"{one['gpu_busy_percent']} %"
            rows.append([name, str(one["steps"]), f"{one['seconds']:.0f}", f"{one['tokens_per_s']:,} tokens/s", busy])
    arms = (f"{arm}-{SEEDS[0]}" for compared_arms in COMPARED.values() for arm in compared_arms if arm != "cold")
    for name in dict.fromkeys(("main", *arms)):
        if one := runs.record(f"g-{name}/grpo.json"):
            times = sorted(line["step_time"] for line in one["history"] if "step_time" in line)
            half = f"{times[len(times) // 2]:.1f} s a step" if times else "not logged"
            busy = f"{one['gpu_busy_percent']} %"
            rows.append([f"GRPO, {name}", str(one["steps"]), f"{one['seconds']:.0f}", half, busy])
    show("Speed", ("stage or run", "steps", "seconds", "at the median", "GPU busy"), rows)


if __name__ == "__main__":
    try:
        main()
    except BadInput as error:
        sys.exit(f"nano_results: {error}")
