"""``geosleuth bench ablate``: variants of a run over the same photos, held against the first of them."""

from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from geosleuth.app.bench_options import JsonFlag
from geosleuth.app.bench_run import (
    RUN,
    AtOnce,
    Cluster,
    Limit,
    Only,
    PerHost,
    RunSeconds,
    RunTokens,
    RunUsd,
    Sample,
    SampleSeed,
)
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

VARIANTS = "What is varied"


def ablate(
    *,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="OUT/", help="The ablation's folder; one that is there is gone on with."),
    ],
    data: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SET", rich_help_panel="Which photos", help="A data set on disk, as for bench run."),
    ] = None,
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="SETTING=A,B,…",
            rich_help_panel=VARIANTS,
            help="An option of a run and its values: tools=search_web+maps_geocode,none, method=twm,spotagent, "
            "model=hf:DIR1,hf:DIR2, parallel=1,4, web-search=offline,tavily. Several make every combination.",
        ),
    ] = [],  # noqa: B006
    one_at_a_time: Annotated[
        bool,
        typer.Option(
            "--one-at-a-time",
            rich_help_panel=VARIANTS,
            help="No combinations: the first values of all, then each other value alone.",
        ),
    ] = False,
    variants: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE.yaml", rich_help_panel=VARIANTS, help="Named variants, see docs/ablation.md."),
    ] = None,
    preset: Annotated[
        Optional[Literal["spotagent-tools", "twm-tools"]],  # noqa: UP045
        typer.Option(rich_help_panel=VARIANTS, help="A paper's own tool sets, and its rows beside ours."),
    ] = None,
    block: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=0,
            rich_help_panel=VARIANTS,
            show_default="50, or a twentieth of the photos",
            help="So many photos of one variant, then of the next, and so on in turn; 0 works through one whole.",
        ),
    ] = None,
    within: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--within", metavar="KM,KM,…", help="Report these distances instead of 1, 25, 200, 750, 2500."),
    ] = None,
    only_show: Annotated[
        bool,
        typer.Option(
            "--only-show",
            help="Run nothing; print and write what the folder's answers say by now; with --within, print only.",
        ),
    ] = False,
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
    """Run variants over the same photos, and say what each is worth against the first, with paired tests.

    OUT/ gets a run's folder for each variant, ablation.html and comparison.json. Give the same command again to go on
    where it stopped. Variants take turns, so that one that is stopped has the same photos done for all of them.
    Limits that begin with --run- hold for all variants together. In --vary, the word usual leaves an option out.

    Examples:

      geosleuth bench ablate --data im2gps3k:im2gps3ktest/ --model openai:gpt-5 --preset spotagent-tools --out tools/

      geosleuth bench ablate --data photos.csv --vary tools=usual,read_text,none --out tools/

      geosleuth bench ablate --data photos.csv --vary model=hf:before/,hf:after/ --vary method=default,twm --out rl/

      geosleuth bench ablate --data photos.csv --model openai:gpt-5 --variants variants.yaml --run-usd 50 --out mine/
    """
    words = {**locals(), "requests": per_host, "out": (), "within": None}
    from geosleuth.app import bench_ablate_work as work
    from geosleuth.app.bench_run_work import BenchRequest
    from geosleuth.app.locate_setup import wishes_of
    from geosleuth.bench.run.limits import RunLimits

    asked = work.Asked(
        vary=tuple(vary),
        one_at_a_time=one_at_a_time,
        variants=variants,
        preset=preset,
        block=block,
        within=within,
    )
    if only_show:
        work.show_ablation(out, asked, as_json=as_json)
        return
    request = BenchRequest(
        data=work.data_of(data),
        wishes=wishes_of(words),
        out=out,
        at_once=at_once,
        limits=RunLimits(tokens=run_tokens, usd=run_usd, seconds=run_seconds),
        retry=retry,
        limit=limit,
        sample=sample,
        sample_seed=sample_seed,
        only=tuple(only),
        cluster=cluster,
    )
    work.run_ablation(request, asked, as_json=as_json)
