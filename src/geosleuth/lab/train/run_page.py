"""A run read from its folder, and its page ``run.html``: one file, no network, no script."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from statistics import fmean
from typing import Any

from geosleuth import __version__
from geosleuth.lab.bench.page.parts import whole_page
from geosleuth.report.jinja import render
from geosleuth.report.markup import Html, el
from geosleuth.support.errors import BadInput
from geosleuth.support.files import lock_file, plain_yaml_values, write_text_atomically
from geosleuth.support.text.numbers import count, percent_sign, plural, threshold

from .curves import STYLE, Chart, Point, draw_chart, render_chart_key
from .curves import Line as ChartLine
from .evaluation import read_evaluated_steps
from .rollouts import ANSWER_RATE, CALL_RATE, CALLS, FAILURE_RATE
from .run_folder import Finished, TrainingFolder, read_best, read_finished
from .training_log import (
    EVALUATION,
    GPU_MEMORY,
    GPU_UTILISATION,
    TOKENS_PER_SECOND,
    Line,
    parse_distance,
    parse_part,
    read_metrics,
    within_name,
)

_WITHIN, _PASS = f"{EVALUATION}within_", f"{EVALUATION}pass@"
_ENDS = ("/low", "/high")
_HEADLINE_KM = 25.0
# TRL metrics that charts replace with ours where available: TRL counts only calls that reached no tool as failed.
REPLACED_METRICS = {"tools/call_frequency": CALLS, "tools/failure_frequency": FAILURE_RATE}

_NOT_FIGURES = frozenset({"step", "seconds", "stage", "epoch", "num_tokens"})
_MAX_POINTS = 400
_SMOOTHED_FROM = 40
# A chart that stands alone in its row is as wide as those in pairs, so that letters have one size.
_ALIKE = "@media screen { .pair { grid-template-columns: repeat(auto-fill, minmax(min(100%, 29rem), 1fr)); } }\n"
_STAGES = {
    "sft": "fine-tuning",
    "coldstart": "agentic cold start",
    "grpo": "reinforcement learning",
}


@dataclass(frozen=True, slots=True)
class Spec:
    """A chart.

    Attributes:
        identifier: one of its own on the page.
        title: above it.
        pick: what a figure is called in it; None leaves the figure out.
        said: below it.
        unit: of the figures, where it is not plain.
        percent: whether they are shares.
        least: with fewer lines the chart is left out.
    """

    identifier: str
    title: str
    pick: Callable[[str], str | None]
    said: str
    unit: str = ""
    percent: bool = False
    least: int = 1


@dataclass(frozen=True, slots=True)
class RunSection:
    """Charts under one heading."""

    identifier: str
    heading: str
    charts: tuple[Spec, ...]


def trl_reward(figure: str) -> str | None:
    """Return the name of a reward function, as TRL has it."""
    middle = figure.removeprefix("rewards/").removesuffix("/mean")
    return middle if figure == f"rewards/{middle}/mean" else None


def distance_words(figure: str) -> str | None:
    """Return which distance an accuracy is about."""
    km = parse_distance(figure)
    return None if km is None else f"within {threshold(km)}"


def find_evaluated_distance(figure: str) -> str | None:
    """Return which distance a figure of held-out scenes or photos is about."""
    return distance_words(f"accuracy/{figure.removeprefix(_WITHIN)}") if figure.startswith(_WITHIN) else None


def find_evaluated_tries(figure: str) -> str | None:
    """Return of how many tries a figure is about, at the distance of the headlines."""
    if figure == f"{_WITHIN}{_HEADLINE_KM:g}km":
        return "one try"
    k, _, km = figure.removeprefix(_PASS).partition("_")
    return f"pass@{k}" if figure.startswith(_PASS) and km == f"{_HEADLINE_KM:g}km" else None


SECTIONS = (
    RunSection("evaluation", "Held-out evaluation", (
        Spec("evaluation-within", "Accuracy by distance", find_evaluated_distance,
             "The share of tries at held-out scenes or"
             " photos whose point lies within the distance, with its 95 % interval.", percent=True),
        Spec("evaluation-pass", f"Pass@K within {threshold(_HEADLINE_KM)}", find_evaluated_tries,
             "How likely at least one of K tries lies within the distance.", percent=True, least=2),
        Spec("evaluation-reward", "Reward of the answers", {f"{EVALUATION}reward": "mean reward"}.get,
             "The mean over tries, by the evaluation's reward."),
    )),
    RunSection("reward", "What replies earn", (
        Spec("reward-total", "Reward", {"reward": "mean reward", "reward_std": "its spread"}.get,
             "The mean over the replies of a step, and their standard deviation."),
        Spec("reward-parts", "Parts of the reward", parse_part,
             "The mean of each part over the replies of a step, before its weight."),
        Spec("reward-functions", "Reward functions", trl_reward, "The mean of each, as TRL reports it.", least=2),
        Spec("reward-alike", "Groups that teach nothing", {"frac_reward_zero_std": "replies all alike"}.get,
             "The share of groups whose replies all earn the same: they have no gradient.", percent=True),
    )),
    RunSection("accuracy", "Where the answers lie", (
        Spec("accuracy-within", "Accuracy by distance", distance_words, "The share of replies in training whose point"
             " lies within the distance. It is no measure on held-out photos: geosleuth train evaluate makes that.",
             percent=True),
    )),
    RunSection("tools", "How tools are used", (
        Spec("tools-calls", "Tool calls", {CALLS: "calls a reply", "tools/call_frequency": "calls a reply"}.get,
             "Calls of one reply, on average."),
        Spec("tools-failures", "Failed calls", {FAILURE_RATE: "failed", "tools/failure_frequency": "failed"}.get,
             "The share of calls that gave nothing: bad, refused and repeated ones, and those that can't be read.",
             percent=True),
        Spec("tools-used", "Replies", {CALL_RATE: "call a tool", ANSWER_RATE: "give an answer of their own"}.get,
             "The share of replies that call a tool at all, and of those that end with an answer.", percent=True),
    )),
    RunSection("length", "How long replies are", (
        Spec("length-tokens", "Length", {"completions/mean_length": "mean", "completions/min_length": "shortest",
             "completions/max_length": "longest"}.get, "Tokens of a reply.", "tokens"),
        Spec("length-cut", "Cut replies", {"completions/clipped_ratio": "cut"}.get,
             "The share of replies that were cut before their end.", percent=True),
    )),
    RunSection("policy", "How far the policy moves", (
        Spec("policy-kl", "Divergence", {"kl": "KL"}.get, "From the model that training began with, mean over tokens."),
        Spec("policy-entropy", "Entropy", {"entropy": "entropy"}.get, "Of the next token, mean over tokens."),
        Spec("policy-clip", "Clipped ratios", {"clip_ratio/region_mean": "clipped"}.get,
             "The share of tokens whose ratio had left the trusted range.", percent=True),
    )),
    RunSection("loss", "What is minimised", (
        Spec("loss-loss", "Loss", {"loss": "training", "eval_loss": "held out"}.get, "The trainer's own loss."),
        Spec("loss-tokens", "Tokens foretold", {"mean_token_accuracy": "right tokens"}.get,
             "The share of the assistant's tokens that were the likeliest.", percent=True),
        Spec("loss-gradient", "Gradient", {"grad_norm": "norm"}.get, "Its norm before it is clipped."),
        Spec("loss-rate", "Learning rate", {"learning_rate": "rate"}.get, "As the schedule has it."),
    )),
    RunSection("throughput", "How fast it goes", (
        Spec("throughput-tokens", "Tokens a second", {TOKENS_PER_SECOND: "tokens a second"}.get,
             "All tokens of a step over the time since the step before."),
        Spec("throughput-device", "The device", {GPU_UTILISATION: "GPU busy"}.get,
             "The share of the time in which the GPU was busy.", percent=True),
        Spec("throughput-step", "Time of a step", {"step_time": "seconds"}.get, "As the trainer has it.", "s"),
        Spec("throughput-memory", "GPU memory", {GPU_MEMORY: "held"}.get, "The most that was held.", "GB"),
    )),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reviewed:
    """A run's folder, read.

    Attributes:
        folder: where it lies.
        recipe: the resolved recipe, as its file has it.
        lines: of figures, by step.
        done: what it came to; None while it has not ended.
    """

    folder: Path
    recipe: Mapping[str, Any]
    lines: Sequence[Line]
    done: Finished | None

    @property
    def name(self) -> str:
        """The recipe's name, or else the folder's."""
        return str(self.recipe.get("name") or self.folder.resolve().name)

    @property
    def stage(self) -> str:
        """Training stage."""
        return str(self.recipe.get("stage") or next((line["stage"] for line in self.lines if "stage" in line), "?"))

    @property
    def step(self) -> int:
        """The last step that wrote figures."""
        return int(self.lines[-1]["step"]) if self.lines else 0

    @property
    def seconds(self) -> float:
        """Training time up to it, over all sessions."""
        return max((float(line.get("seconds", 0.0)) for line in self.lines), default=0.0)

    def names(self) -> list[str]:
        """Return every figure that some line has, in the order of first appearance; ends of intervals are none."""
        every = dict.fromkeys(name for line in self.lines for name in line)
        return [name for name in every if name not in _NOT_FIGURES and not name.endswith(_ENDS)]

    def values(self, name: str) -> list[tuple[int, float]]:
        """Return the steps that have a figure, and the figure."""
        return [(line["step"], float(line[name])) for line in self.lines if isinstance(line.get(name), (int, float))]


@dataclass(frozen=True, slots=True)
class Change:
    """A figure at both ends of a run: means over the first and last tenth of its steps."""

    first: float
    last: float
    steps: int


def read_run(folder: Path) -> Reviewed:
    """Read the folder of a run, under way or finished.

    Raises:
        BadInput: it holds no run, or a file of it can't be read.
    """
    kept = TrainingFolder(folder)
    if not kept.recipe.is_file() and not kept.metrics.is_file():
        raise BadInput(f"{folder}: holds no training run; give the folder that --out named")
    recipe = plain_yaml_values(kept.recipe) if kept.recipe.is_file() else {}
    if not isinstance(recipe, dict):
        raise BadInput(f"{kept.recipe}: is no recipe")
    return Reviewed(folder, recipe, _with_evaluations(read_metrics(kept.metrics), kept), read_finished(kept))


def _with_evaluations(lines: Sequence[Line], run: TrainingFolder) -> list[Line]:
    """Return the lines with the figures of evaluations in the run's folder, by any command."""
    by_step: dict[int, Line] = {line["step"]: dict(line) for line in lines}
    for step, figures in read_evaluated_steps(run).items():
        by_step.setdefault(step, {"step": step}).update({f"{EVALUATION}{name}": one for name, one in figures.items()})
    return [by_step[step] for step in sorted(by_step)]


def nobody_trains(folder: Path) -> bool:
    """Return whether it is certain that no process trains in a run's folder: who does holds a lock on it.

    A run that is begun in this very moment finds the folder taken; its command can be given again.
    """
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return False
    try:
        return lock_file(handle) is True
    finally:
        os.close(handle)


def change(values: Sequence[tuple[int, float]]) -> Change:
    """Return how a figure moved. There must be a value."""
    part = max(1, len(values) // 10)
    return Change(fmean(v for _, v in values[:part]), fmean(v for _, v in values[-part:]), len(values))


def changes(run: Reviewed) -> dict[str, Change]:
    """Return the same of every figure."""
    return {name: change(values) for name in run.names() if (values := run.values(name))}


def review_document(run: Reviewed) -> dict[str, Any]:
    """Return all of it for machines."""
    return {
        "run": str(run.folder),
        "name": run.name,
        "stage": run.stage,
        "finished": run.done is not None,
        "step": run.step,
        "seconds": run.seconds,
        "figures": {
            name: {"first": one.first, "last": one.last, "steps": one.steps} for name, one in changes(run).items()
        },
        "done": None if run.done is None else dict(run.done.figures),
    }


def write_page(folder: Path, *, generated: str | None = None) -> Path:
    """Redraw the page of a run's folder.

    Raises:
        BadInput: the folder holds no run, or the page can't be written.
    """
    path = TrainingFolder(folder).page
    when = generated or time.strftime("%Y-%m-%d %H:%M")
    write_text_atomically(path, render_run(read_run(folder), generated=when))
    return path


def render_run(run: Reviewed, *, generated: str) -> str:
    """Return the whole page as text, to be written as UTF-8."""
    title = f"{run.name}: {_STAGES.get(run.stage, run.stage)}"
    moved = changes(run)
    body = render(
        "training",
        title=title,
        headlines=headlines(run, moved),
        sections=[
            (item, made) for item in SECTIONS if (made := [*filter(None, (_figure(run, s) for s in item.charts))])
        ],
        figures=[(name, f"{one.first:,.5g}", f"{one.last:,.5g}", count(one.steps)) for name, one in moved.items()],
        recipe=_values(run.recipe),
        folder=quote(str(run.folder)),
        version=__version__,
        generated=generated,
    )
    return whole_page(title, body, STYLE + _ALIKE)


def headlines(run: Reviewed, moved: Mapping[str, Change]) -> list[str]:
    """Return what is to be said first, in sentences."""
    so_far = f"{plural(run.step, 'step', 'steps')} and {duration(run.seconds)} of training"
    found = [f"Finished after {so_far}." if run.done is not None else f"{so_far} so far; the run has not ended."]
    columns = (
        ("reward", "The mean reward", "{:.3f}".format),
        (CALLS, "Tool calls a reply", "{:.2f}".format),
        (FAILURE_RATE, "The share of failed calls", _format_percent),
        ("loss", "The loss", "{:.4g}".format),
    )
    for figure, words, write in columns:
        # In reinforcement learning the loss says little: advantages sum to nought.
        if (item := moved.get(figure)) and item.steps > 1 and not (figure == "loss" and "reward" in moved):
            found.append(f"{words} went from {write(item.first)} to {write(item.last)}.")
    if item := moved.get(within_name(_HEADLINE_KM)):
        near = threshold(_HEADLINE_KM)
        found.append(
            f"Within {near} lay {_format_percent(item.first)} of the first replies and "
            f"{_format_percent(item.last)} of the last."
        )
    if best := read_best(TrainingFolder(run.folder)):
        found.append(f"The best policy by {best['figure']} is that of step {best['step']}: {best['value']:.4g}.")
    return found


def _format_percent(value: float) -> str:
    return percent_sign(100 * value)


def duration(seconds: float) -> str:
    """Return a time span in the two largest units that it has."""
    whole = round(seconds)
    if whole < 60:
        return f"{seconds:.3g} s" if seconds < 10 else f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def _figure(run: Reviewed, spec: Spec) -> Html | None:
    # Distances are sorted; the others keep their order.
    there = run.names()
    shown = sorted(
        (item for item in there if REPLACED_METRICS.get(item) not in there),
        key=lambda item: parse_distance(item) or 0.0,
    )
    lines = tuple(
        _with_interval(_build_chart_line(words, values), run, figure)
        for figure in shown
        if (words := spec.pick(figure)) is not None and (values := run.values(figure))
    )
    if len(lines) < spec.least:
        return None
    chart = Chart(spec.title, lines, percent=spec.percent)
    return el(
        "figure",
        None,
        el("h3", None, f"{spec.title}, {spec.unit}" if spec.unit else spec.title),
        draw_chart(spec.identifier, chart),
        el("figcaption", None, spec.said, " ", render_chart_key(chart)),
    )


def _with_interval(line: ChartLine, run: Reviewed, figure: str) -> ChartLine:
    """Return a line with the intervals of its points, if recorded."""
    low, high = (dict(run.values(f"{figure}{end}")) for end in _ENDS)
    if not low or line.raw:
        return line
    return replace(line, points=tuple(replace(p, low=low.get(int(p.x)), high=high.get(int(p.x))) for p in line.points))


def _build_chart_line(words: str, values: Sequence[tuple[int, float]]) -> ChartLine:
    points = [Point(float(step), value) for step, value in _average_points(values)]
    if len(points) < _SMOOTHED_FROM:
        return ChartLine(words, tuple(points))
    # Centred, and narrower towards both ends: a straight line stays what it is.
    half, last = max(1, len(points) // 40), len(points) - 1
    smooth = []
    for at, point in enumerate(points):
        reach = min(half, at, last - at)
        smooth.append(Point(point.x, fmean(item.y for item in points[at - reach : at + reach + 1])))
    return ChartLine(words, tuple(smooth), tuple(points))


def _average_points(values: Sequence[tuple[int, float]]) -> list[tuple[float, float]]:
    """Return no more points than a chart can show: means of neighbours, at their last step."""
    size = -(-len(values) // _MAX_POINTS)
    return [
        (float(part[-1][0]), fmean(value for _, value in part))
        for part in (values[at : at + size] for at in range(0, len(values), max(1, size)))
    ]


def _values(values: Mapping[str, Any], before: str = "") -> list[tuple[str, str]]:
    """Return a recipe file's values as text under dotted names; the file may be of another version."""
    found: list[tuple[str, str]] = []
    for key, value in values.items():
        if isinstance(value, Mapping) and value:
            found += _values(value, f"{before}{key}.")
        elif isinstance(value, (list, tuple)):
            found.append((f"{before}{key}", ", ".join(map(str, value)) or "none"))
        else:
            found.append((f"{before}{key}", "none" if value is None else str(value)))
    return found
