"""``geosleuth bench run``: let a model, a team or a baseline answer for every photo of a data set."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from geosleuth.app.bench_options import JsonFlag
from geosleuth.app.reach_options import Allow, ImageSearch, Maps, Prior, WebSearch
from geosleuth.app.thinking_options import (
    BaseUrl,
    Boxes,
    Calls,
    ChainsRead,
    ForceAnswer,
    McpAllow,
    McpServers,
    MethodName,
    Model,
    OfflineFlag,
    Parallel,
    ReplyTokens,
    Seconds,
    Seed,
    TeamFile,
    Temperature,
    Tokens,
    ToolNames,
    Turns,
    Usd,
    Verifier,
    WireName,
    Yes,
)

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


def run(
    *,
    data: Data,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="RUN/", help="The run's folder; one that is there is gone on with.")
    ],
    limit: Limit = None,
    sample: Sample = None,
    sample_seed: SampleSeed = 0,
    only: Only = [],  # noqa: B006
    at_once: AtOnce = None,
    per_host: PerHost = None,
    run_tokens: RunTokens = None,
    run_usd: RunUsd = None,
    run_seconds: RunSeconds = None,
    retry: Annotated[
        Optional[Literal["errors"]],  # noqa: UP045
        typer.Option(rich_help_panel=RUN, help="Try those photos again, and only those, that ended in an error."),
    ] = None,
    cluster: Cluster = None,
    gpus: Gpus = 0.0,
    mask: Annotated[
        Optional[Literal["text", "signs", "poles", "foreground", "clue"]],  # noqa: UP045
        typer.Option(rich_help_panel=RUN, help="Hide this in every photo, to see what answers hang on."),
    ] = None,
    unmasked: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="RUN/", rich_help_panel=RUN, help="The run whose clues --mask clue hides."),
    ] = None,
    model: Model = None,
    base_url: BaseUrl = None,
    parallel: Parallel = 1,
    verifier: Verifier = None,
    chains: ChainsRead = None,
    team: TeamFile = None,
    turns: Turns = None,
    calls: Calls = None,
    tokens: Tokens = None,
    reply_tokens: ReplyTokens = None,
    seconds: Seconds = None,
    usd: Usd = None,
    temperature: Temperature = None,
    seed: Seed = None,
    method: MethodName = None,
    tools: ToolNames = None,
    wire: WireName = None,
    boxes: Boxes = "pixels",
    force_answer: ForceAnswer = False,
    offline: OfflineFlag = False,
    yes: Yes = False,
    maps: Maps = None,
    web_search: WebSearch = None,
    image_search: ImageSearch = None,
    prior: Prior = None,
    allow: Allow = [],  # noqa: B006
    mcp: McpServers = None,
    mcp_allow: McpAllow = [],  # noqa: B006
    as_json: JsonFlag = False,
) -> None:
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
    words = {**locals(), "requests": per_host, "out": ()}
    from geosleuth.app.bench_run_work import BenchRequest, bench_run
    from geosleuth.app.locate_setup import wishes_of
    from geosleuth.bench.run.limits import RunLimits

    wishes = wishes_of(words)
    request = BenchRequest(
        data=data,
        wishes=wishes,
        out=out,
        at_once=at_once,
        limits=RunLimits(tokens=run_tokens, usd=run_usd, seconds=run_seconds),
        retry=retry,
        limit=limit,
        sample=sample,
        sample_seed=sample_seed,
        only=tuple(only),
        cluster=cluster,
        gpus=gpus,
        mask=mask,
        unmasked=unmasked,
    )
    bench_run(request, as_json=as_json)
