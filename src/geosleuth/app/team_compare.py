"""``geosleuth team compare`` and ``team sweep``: how ways of working and their settings do on known photos."""

from pathlib import Path
from typing import Annotated, Optional

import typer

Dataset = Annotated[
    Path, typer.Argument(metavar="DATASET", help="Geotagged photos, or a table (CSV, JSONL) with path, lat, lon.")
]
TeamFile = Annotated[Path, typer.Option("--team", metavar="FILE", help="The team's file, see examples/team.yaml.")]
Out = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(metavar="FILE", help="Write the page of plots here; it is one file and loads nothing."),
]
Replies = Annotated[
    Optional[Path],  # noqa: UP045
    typer.Option(metavar="FILE", help="Keep replies here, and ask nothing twice; by default beside the team's file."),
]
Photos = Annotated[Optional[int], typer.Option(min=1, metavar="N", help="Only N photos, drawn by the seed.")]  # noqa: UP045
Seed = Annotated[int, typer.Option(metavar="N", help="All chance comes from it.")]
AtOnce = Annotated[int, typer.Option(min=1, max=64, metavar="N", help="Photos at the same time.")]
Offline = Annotated[bool, typer.Option("--offline", help="Refuse models that are not on this machine's disk.")]
Yes = Annotated[bool, typer.Option("--yes", help="Allow photos to be sent to the team's models.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace the page where it is there already.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else.")]


def compare(
    dataset: Dataset,
    *,
    team: TeamFile,
    ways: Annotated[
        str, typer.Option(metavar="NAMES", help="Ways of working, with commas: swarm, strangers, majority, debate ...")
    ] = "all",
    record: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="DATASET", help="Other photos, to find the member with the best record; else the first."),
    ] = None,
    out: Out = None,
    replies: Replies = None,
    photos: Photos = None,
    seed: Seed = 0,
    at_once: AtOnce = 4,
    offline: Offline = False,
    yes: Yes = False,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Hold ways of working against each other on photos whose place is known.

    Prints accuracy at the team's threshold (50 km), tokens, calls and seconds a photo. A run that is cut off goes on
    where it was: what was replied is kept.

    Examples:

      geosleuth team compare holdout.csv --team team.yaml --ways swarm,majority,debate --record train.csv

      geosleuth team compare holdout.csv --team team.yaml --out ways.html
    """
    from geosleuth.app import team_measuring as work

    setting = work.Setting(dataset, team, replies, photos, seed, at_once, offline=offline, yes=yes)
    work.compare_ways(setting, ways, record, out, overwrite=overwrite, as_json=as_json)


def sweep(
    dataset: Dataset,
    *,
    team: TeamFile,
    vary: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(
            metavar="SETTING=VALUES",
            help="answerers=1..8, reviewers=1..8, rounds=0,1,3, agents=2..6, or "
            "personas-against-backbones; may be given several times.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page of plots; it is one file and loads nothing.")] = (
        Path("sweep.html")
    ),
    replies: Replies = None,
    photos: Photos = None,
    seed: Seed = 0,
    at_once: AtOnce = 4,
    offline: Offline = False,
    yes: Yes = False,
    overwrite: Overwrite = False,
    as_json: JsonFlag = False,
) -> None:
    """Vary a swarm's settings one by one, and plot accuracy and tokens over each, on one page.

    A run that is cut off goes on where it was: what was replied is kept.

    Examples:

      geosleuth team sweep holdout.csv --team team.yaml

      geosleuth team sweep holdout.csv --team team.yaml --vary rounds=0,1,3,5,10 --vary agents=2..6
    """  # fmt: skip
    from geosleuth.app import team_measuring as work

    setting = work.Setting(dataset, team, replies, photos, seed, at_once, offline=offline, yes=yes)
    work.sweep_settings(setting, vary, out, overwrite=overwrite, as_json=as_json)
