"""``geosleuth bench run``: let a model, a team or a baseline answer for every photo of a data set."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Optional

import typer

from geosleuth.app.bench_options import JsonFlag
from geosleuth.app.options import RunOptions, request_of, takes

RUN = "The run"
PHOTOS = "Which photos"

Data = Annotated[
    str,
    typer.Option(
        metavar="SET",
        rich_help_panel=PHOTOS,
        help="A data set on disk: NAME:PATH as in geosleuth dataset list, or the path of a folder or table.",
    ),
]
Limit = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, rich_help_panel=PHOTOS, help="Only the first so many photos."),
]
Sample = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, rich_help_panel=PHOTOS, help="So many photos drawn by --sample-seed."),
]
SampleSeed = Annotated[int, typer.Option(rich_help_panel=PHOTOS, help="Which photos --sample draws.")]
Only = Annotated[
    list[str],
    typer.Option(metavar="FIELD=VALUE", rich_help_panel=PHOTOS, help="Only photos with this. May be repeated."),
]
AtOnce = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        min=1,
        max=4096,
        rich_help_panel=RUN,
        show_default="2 for the detective, 4 for models, 64 for recordings",
        help="Photos that are worked on at once.",
    ),
]
PerHost = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(
        min=1, rich_help_panel=RUN, show_default="as many as photos", help="Requests that a model's host gets at once."
    ),
]
RunTokens = Annotated[
    Optional[int],  # noqa: UP045
    typer.Option(min=1, rich_help_panel=RUN, help="Tokens of the whole run, at most."),
]
RunUsd = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=0.0, rich_help_panel=RUN, help="US dollars of the whole run, at most."),
]
RunSeconds = Annotated[
    Optional[float],  # noqa: UP045
    typer.Option(min=0.1, rich_help_panel=RUN, help="Seconds of the whole run, at most."),
]
Cluster = Annotated[
    Optional[str],  # noqa: UP045
    typer.Option(metavar="ADDRESS", rich_help_panel=RUN, help="Work on a Ray cluster: HOST:PORT, auto or local."),
]
Gpus = Annotated[
    float,
    typer.Option(min=0.0, rich_help_panel=RUN, help="How much of a GPU each process of the cluster gets."),
]


@dataclass(frozen=True, kw_only=True)
class FolderOptions:
    """The data set, and where the run is kept."""

    data: Data
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="RUN/", help="The run's folder; one that is there is gone on with.")
    ]


@dataclass(frozen=True, kw_only=True)
class SetOptions:
    """Which photos of a set, how many at once, and what the whole run may use."""

    limit: Limit = None
    sample: Sample = None
    sample_seed: SampleSeed = 0
    only: Only = field(default_factory=list)
    at_once: AtOnce = None
    per_host: PerHost = None
    run_tokens: RunTokens = None
    run_usd: RunUsd = None
    run_seconds: RunSeconds = None
    retry: Annotated[
        Optional[Literal["errors"]],  # noqa: UP045
        typer.Option(rich_help_panel=RUN, help="Try those photos again, and only those, that ended in an error."),
    ] = None
    cluster: Cluster = None


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """What one run has and an ablation does not."""

    gpus: Gpus = 0.0
    mask: Annotated[
        Optional[Literal["text", "signs", "poles", "foreground", "clue"]],  # noqa: UP045
        typer.Option(rich_help_panel=RUN, help="Hide this in every photo, to see what answers hang on."),
    ] = None
    unmasked: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="RUN/", rich_help_panel=RUN, help="The run whose clues --mask clue hides."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class JsonOption:
    """What is printed."""

    as_json: JsonFlag = False


@dataclass(frozen=True, kw_only=True)
class BenchOptions(JsonOption, RunOptions, WorkOptions, SetOptions, FolderOptions):
    """All options of the command, in the order of the help from the right."""


@takes(BenchOptions)
def run(options: BenchOptions) -> None:
    """Answer for every photo of a data set, and keep all of it in a folder.

    Whoever answers gets pixels and nothing else: photos have random names, no metadata and no label. Give the same
    command again to go on where it stopped: what is finished is neither lost nor done again. Budgets such as --usd hold
    for each photo, those that begin with --run- for the whole run. Besides models and teams, --model takes recordings
    (replay:RECORDS.jsonl, replay:RUN/) and baselines (blind:population, nearest:GALLERY, geoclip:FOLDER).

    Examples:

      geosleuth bench run --data photos/ --out runs/detective/

      geosleuth bench run --data im2gps3k:im2gps3ktest/ --model openai:gpt-5 --run-usd 20 --at-once 16 --out runs/gpt5/

      geosleuth bench run --data photos.csv --model replay:answers.jsonl --out runs/again/

      geosleuth bench run --data photos.csv --model openai:gpt-5 --out runs/gpt5/ --retry errors

      geosleuth bench run --data photos.csv --mask text --out runs/without-text/
    """
    from geosleuth.app.bench_run_work import BenchRequest, bench_run

    request = BenchRequest(
        data=options.data,
        locate=request_of(options, RunOptions, requests=options.per_host),
        out=options.out,
        **selection_of(options),
        gpus=options.gpus,
        mask=options.mask,
        unmasked=options.unmasked,
    )
    bench_run(request, as_json=options.as_json)


def selection_of(options: SetOptions) -> dict[str, Any]:
    """Return what a `BenchRequest` says of the photos and of the whole run's limits."""
    from geosleuth.bench.run.limits import RunLimits

    return {
        "at_once": options.at_once,
        "limits": RunLimits(tokens=options.run_tokens, usd=options.run_usd, seconds=options.run_seconds),
        "retry": options.retry,
        "limit": options.limit,
        "sample": options.sample,
        "sample_seed": options.sample_seed,
        "only": tuple(options.only),
        "cluster": options.cluster,
    }
