"""``geosleuth bench ablate``: variants of a run over the same photos, held against the first of them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal, Optional

import typer

from geosleuth.app.bench_run import JsonOption, SetOptions, selection_of
from geosleuth.app.options import RunOptions, request_of, takes

VARIANTS = "What is varied"


@dataclass(frozen=True, kw_only=True)
class VariantOptions:
    """What is varied, over which photos, and how it is told."""

    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="OUT/", help="The ablation's folder; one that is there is gone on with."),
    ]
    data: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="SET", rich_help_panel="Which photos", help="A data set on disk, as for bench run."),
    ] = None
    vary: Annotated[
        list[str],
        typer.Option(
            metavar="SETTING=A,B,…",
            rich_help_panel=VARIANTS,
            help="An option of a run and its values: tools=search_web+maps_geocode,none, method=twm,spotagent, "
            "model=hf:DIR1,hf:DIR2, parallel=1,4, web-search=offline,tavily. Several make every combination.",
        ),
    ] = field(default_factory=list)
    one_at_a_time: Annotated[
        bool,
        typer.Option(
            "--one-at-a-time",
            rich_help_panel=VARIANTS,
            help="No combinations: the first values of all, then each other value alone.",
        ),
    ] = False
    variants: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE.yaml", rich_help_panel=VARIANTS, help="Named variants, see docs/ablation.md."),
    ] = None
    preset: Annotated[
        Optional[Literal["spotagent-tools", "twm-tools"]],  # noqa: UP045
        typer.Option(rich_help_panel=VARIANTS, help="A paper's own tool sets, and its rows beside ours."),
    ] = None
    block: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(
            min=0,
            rich_help_panel=VARIANTS,
            show_default="50, or a twentieth of the photos",
            help="So many photos of one variant, then of the next, and so on in turn; 0 works through one whole.",
        ),
    ] = None
    within: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option("--within", metavar="KM,KM,…", help="Report these distances instead of 1, 25, 200, 750, 2500."),
    ] = None
    only_show: Annotated[
        bool,
        typer.Option(
            "--only-show",
            help="Run nothing; print and write what the folder's answers say by now; with --within, print only.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class AblateOptions(JsonOption, RunOptions, SetOptions, VariantOptions):
    """All options of the command, in the order of the help from the right."""


@takes(AblateOptions)
def ablate(options: AblateOptions) -> None:
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
    from geosleuth.app import bench_ablate_work as work
    from geosleuth.app.bench_run_work import BenchRequest

    asked = work.Asked(
        vary=tuple(options.vary),
        one_at_a_time=options.one_at_a_time,
        variants=options.variants,
        preset=options.preset,
        block=options.block,
        within=options.within,
    )
    if options.only_show:
        work.show_ablation(options.out, asked, as_json=options.as_json)
        return
    request = BenchRequest(
        data=work.data_of(options.data),
        locate=request_of(options, RunOptions, requests=options.per_host),
        out=options.out,
        **selection_of(options),
    )
    work.run_ablation(request, asked, as_json=options.as_json)
