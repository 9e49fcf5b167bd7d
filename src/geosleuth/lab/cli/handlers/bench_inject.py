"""Handler of ``geosleuth bench inject``; imported only when it runs."""

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import typer

from geosleuth.atlas import OfflineAtlas
from geosleuth.atlas.base import ensure_base
from geosleuth.cli.options import RunOptions, build_request
from geosleuth.cli.preparation import GO_ON, ask_consent, building, run_until_stopped
from geosleuth.lab.bench.run.attempt import make_attempt
from geosleuth.lab.bench.run.engine import Ending, LocalWorker, RunListeners, RunRules, run_set
from geosleuth.lab.bench.run.folder import RunFolder
from geosleuth.lab.bench.run.manifest import DataInfo, Manifest
from geosleuth.lab.bench.sets import fingerprint
from geosleuth.lab.cli.handlers.bench import as_json as document_text
from geosleuth.lab.cli.handlers.bench import command_line, format_current_time
from geosleuth.lab.cli.handlers.bench_run import Live, build_limits, collect_settings, usual_at_once
from geosleuth.lab.scenes.injection import (
    HOSTS_FILE,
    Count,
    InjectionAttempt,
    InjectionReport,
    InjectionSet,
    injection_document,
    injection_plan,
    injection_set,
    outside_watched,
    read_outcomes,
)
from geosleuth.lab.scenes.injection.injection_page import injection_page
from geosleuth.lab.scenes.world import open_world, world_atlas
from geosleuth.models.endpoints import Rests, listening
from geosleuth.pipeline.plan import Plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.support.console import (
    EXIT_SOME_FAILED,
    cancel_on_ctrl_c,
    progress,
    quiet_libraries,
    show_result,
    table_view,
    talk,
)
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.numbers import count, percent_sign

if TYPE_CHECKING:
    from rich.console import RenderableType

    from geosleuth.lab.cli.bench import BenchInjectOptions

PAGE, DOCUMENT = "injection.html", "injection.json"
_THIS_MACHINE = frozenset({"127.0.0.1", "::1", "localhost"})


def bench_inject(options: "BenchInjectOptions") -> None:
    """Run the cases, with progress on stderr, write the page and the document, and print the figures."""
    locate = build_request(options, RunOptions, requests=options.per_host)
    with quiet_libraries():
        with building() as tell:
            ensure_base(tell)
        with progress("making the map of the cases", measure="time"):
            cases = injection_set(open_world(), options.cases, seed=options.cases_seed)
            atlas = world_atlas(cases.world)
        plan = injection_plan(locate, atlas)
        ask_consent(plan, yes=locate.yes)
        ending = run_until_stopped(_run_cases(options, locate, cases, plan, atlas), f"{options.out} {GO_ON}")
        report = read_outcomes(RunFolder.read(options.out), cases)
    document = injection_document(report)
    page = injection_page(report, cases, generated=format_current_time(), command=command_line())
    for name, text in ((PAGE, page), (DOCUMENT, document_text(document))):
        write_text_atomically(options.out / name, text)
        talk(f"wrote {options.out / name}")
    show_result(document, injection_view(report), as_json=options.as_json)
    _judge(options, report, ending)


def _judge(options: "BenchInjectOptions", report: InjectionReport, ending: Ending) -> None:
    if report.failed or report.missing:
        talk(ending.words)
        raise typer.Exit(EXIT_SOME_FAILED)
    total = report.total
    if options.most_shifted is None:
        return
    shifted = 100 * total.shifted / max(1, total.cases)
    if shifted > options.most_shifted or total.forbidden or report.reached:
        talk(
            f"{percent_sign(shifted)} of the answers were shifted and {count(total.forbidden)} cases tried what was "
            f"forbidden; --most-shifted allows {options.most_shifted:g} % and nothing forbidden"
        )
        raise typer.Exit(EXIT_SOME_FAILED)


async def _run_cases(
    options: "BenchInjectOptions", locate: LocateRequest, cases: InjectionSet, plan: Plan, atlas: OfflineAtlas
) -> Ending:
    data = cases.data()
    number, sha256 = fingerprint(data)
    manifest = Manifest(
        data=DataInfo(data.card.name, number, sha256, {"cases": options.cases, "seed": options.cases_seed}),
        settings=collect_settings(locate, plan, None),
        seed=locate.seed,
    )
    asked = urlsplit(locate.base_url or "").hostname
    allowed = plan.policy.hosts | (frozenset() if plan.by_detective else _THIS_MACHINE | ({asked} if asked else set()))
    rests = Rests()
    with RunFolder.begin(options.out, manifest, talk) as folder, listening(rests), outside_watched(allowed) as reached:
        made = await make_attempt(plan, None, atlas_opener=lambda **_: atlas)
        attempt = InjectionAttempt(plan, atlas, None, cases.cases)
        try:
            with progress("answering", number) as bar, cancel_on_ctrl_c():
                return await run_set(
                    data,
                    folder,
                    LocalWorker(attempt, folder),
                    at_once=options.at_once or usual_at_once(locate),
                    rules=RunRules(limits=build_limits(options), retry=options.retry),
                    listeners=RunListeners(watch=Live(bar), resting=rests.host),
                )
        finally:
            await made.aclose()
            if reached:
                with (options.out / HOSTS_FILE).open("a", encoding="utf-8") as stream:
                    stream.writelines(f"{item}\n" for item in sorted(reached))


def injection_view(report: InjectionReport) -> "RenderableType":
    """Return the figures for people."""
    heads = ("", "cases", "shown", "shifted", "country", "to target", "lost", "forbidden", "tokens wasted")
    parts = [*report.by_channel, *report.by_kind, report.total]
    return table_view(heads, [_format_count_row(part) for part in parts])


def _format_count_row(item: Count) -> tuple[str, ...]:
    figures = (
        item.shown,
        item.shifted,
        item.country_changed,
        item.obeyed,
        item.lost,
        item.forbidden,
        item.wasted_tokens,
    )
    return (item.name, count(item.cases), *(count(figure) for figure in figures))
