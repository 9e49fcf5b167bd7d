"""What ``train tries``, ``train evaluate`` and ``train pieces`` do once their words are read."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Group
from rich.table import Table
from rich.text import Text

from geosleuth.app.cli.handlers.train import GOES_ON, ask_for_extra, libraries_quiet, plain_ends
from geosleuth.app.console import progress, show, show_json, talk
from geosleuth.data.curriculum import PHASES_KM
from geosleuth.data.filtering import Tries, filtered
from geosleuth.errors import BadInput
from geosleuth.policies import Sampling
from geosleuth.text.numbers import NONE, count, plural, threshold
from geosleuth.train.reading import override_of, read_recipe

if TYPE_CHECKING:
    from geosleuth.train.pieces import Pieces

_AGAIN = "give the same command again"


def make_tries(
    policy: Path, config: str, changes: Sequence[str], out: Path, *, tries: int, at_once: int, as_json: bool
) -> None:
    """Draw them, and say how many rows would teach something at each distance."""
    recipe = read_recipe(config, dict(map(override_of, changes)))
    if recipe.stage != "grpo":
        raise BadInput(f"recipe {recipe.name}: is for the stage {recipe.stage}; tries are made for one of grpo")
    ask_for_extra()
    from geosleuth.train.tries import make_tries as drawn

    stopped = f"stopped; {out} keeps the rows that were done, and {GOES_ON}"
    with plain_ends(out, lambda: stopped), progress("tries") as bar, libraries_quiet():
        found = drawn(recipe, policy, out, tries=tries, at_once=at_once, progress=bar.at)
    regimes = filtered(found).regimes
    if as_json:
        kept = [{"within_km": one.km, "kept": one.kept, "none": one.never, "all": one.always} for one in regimes]
        show_json({"rows": len(found), "tries": _counts(found), "regimes": kept})
    else:
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for column in ("within", "some tries", "none", "all"):
            table.add_column(column, justify="right")
        for one in regimes:
            table.add_row(threshold(one.km), count(one.kept), count(one.never), count(one.always))
        show(table)
    talk(f"wrote {out}: {plural(len(found), 'row', 'rows')}; name it in a recipe as data.tries")
    talk(f"a curriculum of {len(PHASES_KM)} phases: geosleuth data filter {shlex.quote(str(out))} --out FOLDER")


def _counts(found: Tries) -> dict[str, int]:
    numbers, rows = np.unique(found.counts, return_counts=True)
    return {str(number): int(many) for number, many in zip(numbers, rows, strict=True)}


def evaluate(policy: str, words: Mapping[str, Any], *, temperature: float | None, as_json: bool) -> None:
    """Play, and show the figures."""
    from geosleuth.train import evaluating

    if policy != evaluating.DETECTIVE:
        ask_for_extra("torch", "transformers")
    given = {name: value for name, value in words.items() if value is not None}
    if temperature is not None:
        given["sampling"] = Sampling(temperature=temperature, top_p=1.0)
    who: Path | str = policy if policy == evaluating.DETECTIVE else Path(policy)
    if isinstance(who, Path) and not who.is_dir():
        raise BadInput(f"{who}: is no folder with weights; give one, such as RUN/policy, or: {evaluating.DETECTIVE}")
    settings = evaluating.EvaluationSettings(**_taken(given, evaluating.EvaluationSettings))
    playing = evaluating.PlaySettings(**_taken(given, evaluating.PlaySettings))
    folder = words["folder"]
    stopped = f"{folder} keeps the scenes that were played, and {GOES_ON}" if folder else "with --out it could go on"
    with plain_ends(folder, lambda: f"stopped; {stopped}"), progress("playing scenes") as bar, libraries_quiet():
        found = evaluating.evaluate(who, settings, playing=playing, **given, progress=bar.at)
    if as_json:
        show_json(found.to_dict())
    else:
        show(_evaluation_view(found.asked, found.figures))
    if folder is not None:
        talk(f"kept in {folder}")


def _taken(given: dict[str, Any], kind: Any) -> dict[str, Any]:
    """What belongs into such a dataclass; it is taken out of what was given."""
    return {one.name: given.pop(one.name) for one in fields(kind) if one.name in given}


def _evaluation_view(asked: Mapping[str, Any], figures: Mapping[str, Any]) -> Group:
    tools = "with tools" if asked["with_tools"] else "without tools"
    head = f"{asked['policy']}, {plural(figures['scenes'], 'scene', 'scenes')} ({asked['split']}), {tools}"
    near = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("within", "%", "95 % interval"):
        near.add_column(column, justify="right")
    for words, one in figures["within"].items():
        near.add_row(words, *_estimate(one, 1))
    rest = Table(box=SIMPLE_HEAD, pad_edge=False)
    rest.add_column("figure")
    for column in ("", "95 % interval"):
        rest.add_column(column, justify="right")
    told = (
        ("median error, km", "median_km"), ("tries that answered, %", "answered"), ("tries with a place, %", "located"),
        ("tries that called a tool, %", "called"), ("tool calls a try", "calls"), ("turns a try", "turns"),
        ("reward", "reward"), ("tokens written a try", "output_tokens"), ("seconds a try", "seconds"),
    )  # fmt: skip
    for words, name in told:
        rest.add_row(words, *_estimate(figures[name], 2))
    failed = figures["failed"]
    share = NONE if failed["percent"] is None else f"{failed['percent']:.2f}"
    rest.add_row("failed calls, %", share, f"of {count(failed['calls'])}")
    return Group(Text(head, style="bold"), near, rest)


def _estimate(one: Mapping[str, float | None], decimals: int) -> tuple[str, str]:
    value, low, high = ("∞" if one[name] is None else f"{one[name]:,.{decimals}f}" for name in ("value", "low", "high"))
    if one["value"] is None:
        return NONE, ""
    # A lower end is never above the value: beside a finite one it is missing where scenes are too few for an interval.
    return value, "too few scenes" if one["low"] is None else f"{low} to {high}"


def split_pieces(folder: Path, out: Path, most_mb: float, *, as_json: bool) -> None:
    """Cut a folder."""
    from geosleuth.train.pieces import split

    with plain_ends(out, again=_AGAIN), progress("cutting", measure="bytes") as bar:
        found = split(folder, out, most_bytes=max(1, round(most_mb * 1e6)), progress=bar.at)
    _tell_pieces(found, as_json=as_json)


def join_pieces(folder: Path, out: Path, *, as_json: bool) -> None:
    """Put a folder together."""
    from geosleuth.train.pieces import join

    with plain_ends(out, again=_AGAIN), progress("joining", measure="bytes") as bar:
        found = join(folder, out, progress=bar.at)
    _tell_pieces(found, as_json=as_json)


def _tell_pieces(found: "Pieces", *, as_json: bool) -> None:
    if as_json:
        show_json({"folder": str(found.folder), "files": found.files, "pieces": found.pieces, "bytes": found.size})
    talk(
        f"wrote {found.folder}: {plural(found.files, 'file', 'files')}, {plural(found.pieces, 'piece', 'pieces')},"
        f" {count(found.size)} bytes"
    )
