"""``geosleuth team learn`` and ``geosleuth team show``: find out whom to trust with which picture, and look at it."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Optional

import typer

JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]


class Preset(StrEnum):
    """How the network is taught."""

    quick = "quick"
    paper = "paper"


class LabelKind(StrEnum):
    """What becomes of the rounds about one photo."""

    answered = "answered"
    mean = "mean"
    last = "last"


class Rule(StrEnum):
    """How links change."""

    default = "default"
    printed = "printed"


class Judged(StrEnum):
    """Which answer decides who is to be elected."""

    own = "own"
    reviewed = "reviewed"


def learn(
    dataset: Annotated[
        Path, typer.Argument(metavar="DATASET", help="Geotagged photos, or a table (CSV, JSONL) with path, lat, lon.")
    ],
    *,
    team: Annotated[Path, typer.Option("--team", metavar="FILE", help="The team's file, see examples/team.yaml.")],
    state: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Where it is kept; by default its society, or beside the team's file."),
    ] = None,
    encoder: Annotated[
        str, typer.Option(metavar="SPEC", help="eyes (bundled), an .onnx file, or a folder with a VAE or vision model.")
    ] = "eyes",
    preset: Annotated[
        Preset, typer.Option(help="quick, or all as in the paper: its rounds, its network, its schooling.")
    ] = Preset.quick,
    rounds: Annotated[int, typer.Option(min=1, metavar="N", help="Rounds about each photo (L).")] = 20,
    within_km: Annotated[float, typer.Option(min=0.0, metavar="KM", help="How near an answer must be (th).")] = 50.0,
    judged: Annotated[
        Optional[Judged],  # noqa: UP045
        typer.Option(help="Who is to be elected: by own answers (quick), or by reviewed ones (paper)."),
    ] = None,
    labels: Annotated[
        Optional[LabelKind],  # noqa: UP045
        typer.Option(help="What becomes of the rounds: answered (quick), mean, or last (paper)."),
    ] = None,
    link_rule: Annotated[Rule, typer.Option(help="How links change after right and wrong answers.")] = Rule.default,
    ask_anew: Annotated[
        bool, typer.Option("--ask-anew", help="Ask every question anew in every round, as the paper does.")
    ] = False,
    photos: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, metavar="N", help="Stop asking after N new photos."),
    ] = None,
    max_tokens: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(min=1, metavar="N", help="Stop asking after so many tokens, images included."),
    ] = None,
    max_seconds: Annotated[
        Optional[float],  # noqa: UP045
        typer.Option(min=0.0, metavar="S", help="Stop asking after so many seconds."),
    ] = None,
    at_once: Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Photos at the same time.")] = 2,
    seed: Annotated[int, typer.Option(metavar="N", help="All chance comes from it.")] = 0,
    offline: Annotated[bool, typer.Option("--offline", help="Refuse models that are not on this disk.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Allow photos to be sent to the team's models.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Learn whom to trust with which picture, from photos whose place is known.

    A run that is cut off goes on where it was: photos learned from before are not asked about again. Several runs may
    learn into one state at once.

    Examples:

      geosleuth team learn streets.csv --team team.yaml

      geosleuth team learn holiday --team team.yaml --photos 100 --max-tokens 2000000
    """
    from geosleuth.app import team_learn_work as work

    work.learn_team(
        work.Wanted(
            dataset, team, state, encoder, preset.value, rounds, within_km, judged and judged.value,
            labels and labels.value, link_rule.value, ask_anew, photos, max_tokens, max_seconds, at_once, seed,
            offline, yes,
        ),
        as_json=as_json,
    )  # fmt: skip


def show(
    state: Annotated[Path, typer.Argument(metavar="STATE", help="What a team has learned, see geosleuth team learn.")],
    *,
    photo: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Show whom the team would trust with this photo."),
    ] = None,
    out: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Draw it here: .html (a page that loads nothing), .svg or .json."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a drawing that is there already.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Show the social network of a team: who is elected, and whom each asks for a review.

    Examples:

      geosleuth team show team.db

      geosleuth team show team.db --photo photo.jpg --out team.html
    """
    from geosleuth.app import team_learn_work as work

    work.show_team(state, photo, out, overwrite=overwrite, as_json=as_json)
