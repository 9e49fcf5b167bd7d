"""The tables and pictures of docs/nano.md, from the folders that `scripts/train_nano.py` leaves behind.

    python scripts/nano_results.py RUNS --pictures docs/images > tables.md

RUNS holds an evaluation as e-NAME, a run of GRPO as g-NAME with its evaluation in it. What is missing is told on stderr
and left out. NAME-bare is without tools, NAME-4 with four tries a scene.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.train.curves import chart_alone, chart_of
from geosleuth.train.evaluation import SLICES, Evaluation, compared, figures_of, read_evaluation

FAR = ("0.5 km", "25 km", "750 km")
NEAR = "25 km"
SEARCHES = {"geocode", "clues"}
"""Tools of the method nano that ask the map."""
STAGES = {"base": "base", "sft": "fine-tuning", "cold": "cold start", "main": "GRPO"}
GAINS = (("base", "cold"), ("cold", "main"), ("nocold", "main"))
COMPARED = {
    "rewards": {"ours": "ours", "geoagent": "GeoAgent's spatial reward", "spotagent": "SpotAgent",
                "geovista": "GeoVista", "twm": "TwM"},
    "filtering": {"random": "random sampling", "filtered": "dynamic filtering"},
    "data": {"cold-300": "300", "cold-1200": "1,200", "cold-5000": "5,000", "cold-100000": "all"},
    "group": {"group4": "4", "ours": "8", "group16": "16"},
    "beta": {"betalow": "1.5", "geovista": "2, GeoVista's", "betahigh": "4"},
    "objective": {"ours": "GRPO", "passk": "pass@k"},
}  # fmt: skip
TITLES = {
    "rewards": "Rewards compared, equal steps",
    "filtering": "Scenes for GRPO, equal steps",
    "data": "Cold start from so many trajectories",
    "group": "Replies a group, equal replies a step",
    "beta": "Beta of the hierarchical reward",
    "objective": "Objectives, equal steps",
}
CURVES = {"within 25 km": "accuracy/25km", "within 750 km": "accuracy/750km", "replies with calls": "tools/call_rate"}
FAILED = {"failed calls": "tools/failure_rate"}
"""A curve of its own: beside the others it would lie on the axis."""
HARD = ("needs zoom", "misleading text", "zoom or misleading")
"""Slices of `geosleuth.train.evaluation` on which the detective is met."""
_SMOOTHED = 5


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

    def history(self, name: str) -> list[Mapping[str, Any]]:
        """What a run of GRPO has logged, step by step."""
        path = self._folder / f"g-{name}" / "grpo.json"
        if not path.is_file():
            print(f"missing: {path}", file=sys.stderr)
            return []
        history: list[Mapping[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["history"]
        return history

    def others(self) -> list[str]:
        """Runs of GRPO that no comparison knows by name."""
        known = {"main", "nocold", *(one for rows in COMPARED.values() for one in rows)}
        return sorted({path.name.removeprefix("g-") for path in self._folder.glob("g-*")} - known)

    def steps(self, name: str) -> str:
        """How many steps a run of GRPO had, as words after its name; nothing for other policies."""
        return f", {len(self.history(name))} steps" if (self._folder / f"g-{name}").is_dir() else ""


def main() -> None:
    """Print tables, and draw pictures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("--pictures", type=Path, required=True)
    given = parser.parse_args()
    runs, pictures = Runs(given.runs), given.pictures
    pictures.mkdir(parents=True, exist_ok=True)
    tools = {
        f"{name}{bare}": f"{words}{', no tools' if bare else ''}"
        for name, words in STAGES.items()
        for bare in ("", "-bare")
    }
    print_table("Stages", runs, tools)
    draw_bars(pictures / "nano-stages", "Nano model on held-out scenes, with tools, greedy", runs, STAGES)
    print_table(
        "Without cold start", runs, {"base": "base", "nocold": "GRPO from the base", "main": "GRPO after cold start"}
    )
    print_gains("Gains, paired by scene, in points", runs, GAINS)
    draw_curves(pictures, runs)
    print_by_clue(runs)
    for name, rows in COMPARED.items():
        print_table(TITLES[name], runs, {one: f"{words}{runs.steps(one)}" for one, words in rows.items()}, fewest=2)
        draw_bars(pictures / f"nano-{name}", TITLES[name], runs, rows)
    others = runs.others()
    told = {"cold": "cold start", "main": f"main{runs.steps('main')}"} if others else {}
    print_table("Other runs of GRPO", runs, told | {one: f"{one}{runs.steps(one)}" for one in others})
    reinforced = dict.fromkeys(one for name, rows in COMPARED.items() if name != "data" for one in (*rows, *others))
    print_gains("Runs of GRPO over the cold start, paired by scene", runs, [("cold", one) for one in reinforced])
    print_parallel(runs)
    print_against_detective(runs)


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
            within = compared(before.scenes, after.scenes)["within"]
            rows.append([one, two, *(f"{interval(within[far])}, p {within[far]['p']:.2g}" for far in FAR)])
    show(title, ("from", "to", *FAR), rows)


def print_by_clue(runs: Runs) -> None:
    """What the cold start does where scenes tell much or little, beside the detective."""
    ours, theirs = runs.evaluation("cold"), runs.evaluation("detective")
    if not ours or not theirs:
        return
    rows = []
    for by in ("finest clue", "needs zoom"):
        for kind in sorted({SLICES[by](scene) for scene in ours.scenes}):
            mine, other = ([one for one in side.scenes if SLICES[by](one) == kind] for side in (ours, theirs))
            used = [one.tools for scene in mine for one in scene.tries]
            searched = sum(bool(SEARCHES & tools.keys()) for tools in used) / len(used)
            zooms = sum(tools.get("zoom", 0) for tools in used) / len(used)
            shares = (interval(figures_of(side)["within"][NEAR]) for side in (mine, other))
            rows.append([f"{by}: {kind}", str(len(mine)), *shares, f"{100 * searched:.0f} %", f"{zooms:.2f}"])
    columns = ("scenes", "how many", f"cold start, {NEAR}", f"detective, {NEAR}", "searched the map", "zooms a scene")
    show("Cold start by what scenes tell", columns, rows)


def print_parallel(runs: Runs) -> None:
    """One try, the verifier's choice among four, and the best of four: after cold start, where measured, and GRPO."""
    columns = ("within", "one try", "verifier@4", "best@4", "verifier over one", "best over verifier")
    for name, words in (("cold-4", "cold start"), ("main-4", "GRPO")):
        found = runs.evaluation(name)
        if found is None or "parallel" not in found.figures:
            continue
        rows = [
            [
                far,
                *(f"{figures[one]:.1f}" for one in ("single", "verifier", "best")),
                *(interval(figures[one]) for one in ("verifier_over_single", "best_over_verifier")),
            ]
            for far, figures in found.figures["parallel"].items()
        ]
        show(f"Four tries a scene, {words}", columns, rows)


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
            within = figures_of(scenes)["within"]
            rows.append([f"{words}, {len(scenes)}", name, *(interval(within[far]) for far in FAR)])
        gains = compared(*sides)["within"]
        rows.append([words, "difference", *(interval(gains[far]) for far in FAR)])
    show("Against the detective", ("scenes", "policy", *FAR), rows)


def draw_bars(path: Path, title: str, runs: Runs, rows: Mapping[str, str]) -> None:
    """A group of bars for every distance."""
    there = {words: found.figures for name, words in rows.items() if (found := runs.evaluation(name))}
    if len(there) > 1:
        groups = [
            {"name": far, "bars": [bar(words, one["within"][far]) for words, one in there.items()]} for far in FAR
        ]
        draw(path, {"kind": "bars", "title": title, "y": {"title": "within", "percent": True}, "groups": groups})


def bar(name: str, figure: Mapping[str, float]) -> dict[str, Any]:
    """A share with its interval."""
    return {
        "name": name,
        **{to: round(figure[of] / 100, 5) for to, of in (("y", "value"), ("low", "low"), ("high", "high"))},
    }


def draw_curves(pictures: Path, runs: Runs) -> None:
    """How GRPO went, after cold start and without it, and in runs that are compared with nothing."""
    others = [(name, name) for name in runs.others()]
    for name, words in (("main", "after cold start"), ("nocold", "from the base"), *others):
        if history := runs.history(name):
            draw_lines(pictures / f"nano-grpo-{name}", f"GRPO {words}", "share", history, CURVES)
            draw_lines(pictures / f"nano-failed-{name}", f"Failed calls, GRPO {words}", "of all calls", history, FAILED)


def draw_lines(
    path: Path, title: str, share: str, history: Sequence[Mapping[str, Any]], curves: Mapping[str, str]
) -> None:
    """Curves of one run."""
    lines = [
        {"name": label, "points": smoothed([(line["step"], line[key]) for line in history if key in line])}
        for label, key in curves.items()
    ]
    if there := [line for line in lines if line["points"]]:
        chart = {
            "kind": "lines", "title": f"{title}, mean of {_SMOOTHED} steps",
            "x": {"title": "step"}, "y": {"title": share, "percent": True}, "lines": there,
        }  # fmt: skip
        draw(path, chart)


def smoothed(points: Sequence[tuple[int, float]]) -> list[dict[str, float]]:
    """The mean of the newest steps, from the first that has enough before it."""
    values = [value for _, value in points]
    return [
        {"x": step, "y": round(sum(values[at - _SMOOTHED + 1 : at + 1]) / _SMOOTHED, 5)}
        for at, (step, _) in enumerate(points)
        if at >= _SMOOTHED - 1
    ]


def draw(path: Path, document: Mapping[str, Any]) -> None:
    """A chart's numbers and its picture, side by side."""
    write_text_atomically(path.with_suffix(".json"), json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    write_text_atomically(path.with_suffix(".svg"), chart_alone(chart_of(document)))


if __name__ == "__main__":
    try:
        main()
    except BadInput as error:
        sys.exit(f"nano_results: {error}")
