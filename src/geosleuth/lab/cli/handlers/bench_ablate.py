"""Handler of ``geosleuth bench ablate``: a ``bench run`` for each variant, then a report."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from geosleuth.cli.preparation import GO_ON, run_until_stopped
from geosleuth.lab.bench.ablation import MASK, PRESETS, Variant, expand_variants
from geosleuth.lab.bench.run.engine import Ending, RunLimits
from geosleuth.lab.bench.run.folder import MANIFEST, RESULTS, RunFolder
from geosleuth.lab.cli.bench import ReportOptions
from geosleuth.lab.cli.handlers.bench_report import report_runs
from geosleuth.lab.cli.handlers.bench_run import BenchRequest, Live, Prepared, prepare, run_bench
from geosleuth.pipeline.request import LocateRequest
from geosleuth.support.console import EXIT_SOME_FAILED, cancel_on_ctrl_c, progress, quiet_libraries, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.text.numbers import plural

if TYPE_CHECKING:
    from geosleuth.lab.bench.sets import BoxKind
    from geosleuth.lab.cli.bench import AblateOptions

PAGE, DOCUMENT = "report.html", "report.json"
USUAL_KM = "1,25,200,750,2500"
# Limits for all variants together, as used in the endings of run names.
LIMITS = ("tokens", "usd", "seconds")


def run_ablation(options: "AblateOptions") -> None:
    """Run what is missing of every variant, then report on all of them, each against the first."""
    if bool(options.vary) == (options.preset is not None):
        raise BadInput("say what to vary in one way: --vary SETTING=A,B or --preset NAME")
    found = None if options.preset is None else PRESETS[options.preset]
    request = BenchRequest.from_options(options)
    if found is not None:
        if request.locate.tools is not None:
            raise BadInput("--preset says itself which tools are on; leave out --tools")
        request = replace(request, locate=replace(request.locate, method=request.locate.method or found.method))
        for line in (f"{found.title}, with the method {request.locate.method}", *found.notes):
            talk(line)
    with quiet_libraries():
        ready = _prepare(request, expand_variants(options.vary) if found is None else found.variants)
        trouble = run_until_stopped(_run_variants(ready, request.limits), f"{request.out} {GO_ON}")
    runs = [item.request.out for item in ready if (item.request.out / RESULTS).is_file()]
    if runs:
        report = ReportOptions(
            runs=runs,
            out=[request.out / PAGE, request.out / DOCUMENT],
            overwrite=True,
            gallery=0,
            within=options.within or (found.within if found else USUAL_KM),
            strict=request.strict,
            as_json=options.as_json,
        )
        report_runs(report, () if found is None else found.rows)
    if trouble:
        talk("; ".join(trouble))
        raise typer.Exit(EXIT_SOME_FAILED)


def apply_changes(locate: LocateRequest, changes: Mapping[str, Any]) -> LocateRequest:
    """Return the options of a variant's run: the command's own, and on top of them what the variant changes."""
    usual = {option.name: option.default for option in fields(LocateRequest)}
    changed: dict[str, Any] = {}
    for setting, value in changes.items():
        name = setting.replace("-", "_")
        if setting != MASK:
            changed[name] = usual[name] if value is None else Path(value) if name == "team" else value
    return replace(locate, **changed)


def _prepare(request: BenchRequest, variants: Sequence[Variant]) -> list[Prepared]:
    """Check every variant before any starts; consent to send photos is asked once per model."""
    ready: list[Prepared] = []
    agreed: set[Any] = set()
    for variant in variants:
        locate = apply_changes(request.locate, variant.changes)
        goes_to = (locate.model, locate.base_url, locate.verifier, locate.team, locate.image_search, locate.mcp)
        locate = replace(locate, yes=locate.yes or goes_to in agreed)
        hidden = cast("BoxKind | None", variant.changes.get(MASK))
        try:
            ready.append(prepare(replace(request, locate=locate, mask=hidden, out=request.out / variant.folder)))
        except BadInput as error:
            raise BadInput(f"variant {variant.name}: {error}") from error
        agreed.add(goes_to)
    return ready


async def _run_variants(ready: Sequence[Prepared], whole: RunLimits) -> list[str]:
    """Run the variants in turn until all are done or an overall limit is reached; return the problems."""
    trouble = []
    with progress("answering", ready[0].manifest.data.count) as bar, cancel_on_ctrl_c():
        for at, run in enumerate(ready, 1):
            name = run.request.out.name
            bar.turn_to(f"{at}/{len(ready)} {name}")
            others = [_spent(other) for other in ready if other is not run]
            ending = await run_bench(replace(run, limits=_limits_left(run.limits, whole, others)), Live(bar))
            trouble += _trouble(name, ending)
            if ending.why in LIMITS:
                trouble.append("that limit is of all variants together")
                break
    return trouble


def _limits_left(own: RunLimits, whole: RunLimits, others: Sequence[tuple[int, float, float]]) -> RunLimits:
    tokens, usd, seconds = (sum(spent[kind] for spent in others) for kind in range(3))
    return replace(
        own,
        tokens=None if whole.tokens is None else max(1, whole.tokens - int(tokens)),
        usd=None if whole.usd is None else max(0.0, whole.usd - usd),
        seconds=None if whole.seconds is None else max(0.001, whole.seconds - seconds),
    )


def _spent(run: Prepared) -> tuple[int, float, float]:
    if not (run.request.out / MANIFEST).exists():
        return 0, 0.0, 0.0
    index = RunFolder.read(run.request.out).index
    usage = index.spent.usage
    return usage.input_tokens + usage.output_tokens, usage.cost_usd or 0.0, index.seconds


def _trouble(name: str, ending: Ending) -> list[str]:
    failed, missing = ending.progress.failed, ending.progress.missing
    lines = [f"{name}: {plural(failed, 'photo', 'photos')} failed; --retry errors tries them again"] if failed else []
    return (
        [*lines, f"{name}: {plural(missing, 'photo is', 'photos are')} missing; {ending.words}"] if missing else lines
    )
