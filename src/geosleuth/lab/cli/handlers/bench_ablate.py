"""What ``geosleuth bench ablate`` does once its words are read; imported only when it runs."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from geosleuth.lab.bench.ablation import (
    AblationPlan,
    AblationReport,
    Preset,
    Variant,
    ablation_document,
    ablation_page,
    ablation_view,
    begin_plan,
    compare_variants,
    parse_vary,
    preset,
    read_plan,
    read_variants,
    variants_of,
)
from geosleuth.lab.bench.ablation.comparison import USUAL_KM
from geosleuth.lab.bench.ablation.variants import MASK
from geosleuth.lab.bench.placed import PlaceText, place_nothing
from geosleuth.lab.bench.run.attempt import bench_plan
from geosleuth.lab.bench.run.engine import Ending, RunLimits
from geosleuth.lab.bench.run.folder import MANIFEST, RESULTS, RunFolder
from geosleuth.lab.bench.scored import Scored, score_file, with_placed
from geosleuth.lab.cli.handlers.bench import as_json as document_text
from geosleuth.lab.cli.handlers.bench import command_line, made_now, scoring_placer, thresholds_km
from geosleuth.lab.cli.handlers.bench_run import BenchRequest, Live, Prepared, prepare, run_bench
from geosleuth.locate.request import LocateRequest
from geosleuth.support.console import (
    CTRL_C,
    SOME_FAILED,
    cancelled_by_ctrl_c,
    progress,
    quiet_libraries,
    show,
    show_json,
    talk,
)
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.numbers import plural

if TYPE_CHECKING:
    from geosleuth.lab.bench.run.journal import PhotoState
    from geosleuth.lab.bench.run.results import RunProgress
    from geosleuth.lab.bench.sets import BoxKind

PAGE, DOCUMENT = "ablation.html", "comparison.json"
USUAL_BLOCK = 50
MOST_ROUNDS = 20
"""Each round opens every variant's model and writes its results once more; a large set is done in larger blocks."""

# Limits that hold for every variant.
_LIMITS = ("tokens", "usd", "seconds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The words that say what is varied, and how it is shown."""

    vary: tuple[str, ...] = ()
    one_at_a_time: bool = False
    variants: Path | None = None
    preset: str | None = None
    block: int | None = None
    within: str | None = None
    strict: bool = False


def data_of(data: str | None) -> str:
    """Return the data set's name, which only ``--only-show`` can do without.

    Raises:
        BadInput: there is no such data set.
    """
    if data is None:
        raise BadInput("name the photos: --data SET, as for bench run; or --only-show to look at what is there")
    return data


def plan_of(asked: Asked) -> AblationPlan:
    """Return the variants that are asked for.

    Raises:
        BadInput: there are none, or they are said in two ways at once.
    """
    ways = [bool(asked.vary), asked.variants is not None, asked.preset is not None]
    if sum(ways) != 1:
        raise BadInput("say what to vary in one way: --vary SETTING=A,B, --variants FILE.yaml or --preset NAME")
    if asked.one_at_a_time and not asked.vary:
        raise BadInput("--one-at-a-time goes with --vary")
    if asked.variants is not None:
        return AblationPlan(read_variants(asked.variants))
    if asked.preset is not None:
        return AblationPlan(preset(asked.preset).variants, asked.preset)
    return AblationPlan(variants_of([parse_vary(text) for text in asked.vary], one_at_a_time=asked.one_at_a_time))


def applied(locate: LocateRequest, changes: Mapping[str, Any]) -> LocateRequest:
    """Return the options of a variant's run: the command's own, and on top of them what the variant changes."""
    usual = {one.name: one.default for one in fields(LocateRequest)}
    changed: dict[str, Any] = {}
    for setting, value in changes.items():
        if setting == MASK:
            continue
        name = setting.replace("-", "_")
        changed[name] = usual[name] if value is None else Path(value) if name == "team" else value
    return replace(locate, **changed)


def run_ablation(request: BenchRequest, asked: Asked, *, as_json: bool) -> None:
    """Run what is missing, say how far it is on stderr, print the comparison and write it into the folder.

    Raises:
        UserError: invalid input; what was finished is kept.
        typer.Exit: photos are missing or failed, or it was stopped.
    """
    wanted = plan_of(asked)
    within_km = _thresholds(asked, wanted)
    found = preset(wanted.preset) if wanted.preset else None
    if found is not None:
        request = _as_in_paper(request, found)
    with quiet_libraries():
        ready = _prepared(request, wanted.variants)
        plan = begin_plan(request.out, wanted)
        ablation = _Ablation(request, ready, asked.block)
        try:
            asyncio.run(ablation.work())
        except asyncio.CancelledError:
            talk(f"stopped; {request.out} keeps what is finished; run the same command to resume")
            raise typer.Exit(CTRL_C) from None
    try:
        _report(request.out, plan, within_km, strict=asked.strict, as_json=as_json)
    except BadInput as error:
        if not ablation.trouble:
            raise
        talk(str(error))
    if ablation.trouble:
        talk("; ".join(ablation.trouble))
        raise typer.Exit(SOME_FAILED)


def show_ablation(out: Path, asked: Asked, *, as_json: bool) -> None:
    """Print and write what a folder's answers say by now; nothing is run.

    A look at other distances is only printed: the folder's own tables stay as they are.

    Raises:
        BadInput: it is no ablation's folder, or has nothing to compare yet.
    """
    plan = read_plan(out)
    _report(out, plan, _thresholds(asked, plan), strict=asked.strict, as_json=as_json, write=asked.within is None)


def _thresholds(asked: Asked, plan: AblationPlan) -> tuple[float, ...]:
    if asked.within is not None:
        return thresholds_km(asked.within)
    return preset(plan.preset).thresholds_km if plan.preset else USUAL_KM


def _as_in_paper(request: BenchRequest, found: Preset) -> BenchRequest:
    """Say which of our tools stand for the paper's; its method is used unless the user names another."""
    locate = request.locate
    if locate.tools is not None:
        raise BadInput("--preset says itself which tools are on; leave out --tools")
    method = locate.method or found.method
    for line in (f"{found.title}, with the method {method}", *found.lines):
        talk(line)
    web, maps = locate.web_search or "the atlas's own texts", locate.maps or "the offline atlas"
    talk(f"web searches ask {web}, maps ask {maps}; --web-search and --maps name others")
    return replace(request, locate=replace(locate, method=method))


def _prepared(request: BenchRequest, variants: Sequence[Variant]) -> dict[str, Prepared]:
    """Check the words of every variant before anything begins; leave to send photos is asked once for each model."""
    ready: dict[str, Prepared] = {}
    agreed: set[Any] = set()
    for variant in variants:
        locate = applied(request.locate, variant.changes)
        goes_to = (locate.model, locate.base_url, locate.verifier, locate.team, locate.image_search, locate.mcp)
        locate = replace(locate, yes=locate.yes or goes_to in agreed)
        try:
            hidden = cast("BoxKind | None", variant.changes.get(MASK))
            asked = replace(request, locate=locate, mask=hidden, out=request.out / variant.folder)
            ready[variant.name] = prepare(asked)
        except BadInput as error:
            raise BadInput(f"variant {variant.name}: {error}") from error
        agreed.add(goes_to)
    return ready


class _Ablation:
    """Variants that take turns, a block of photos each.

    A stop half-way so leaves the same photos done for all, which can be compared as they are; and a hosted model that
    changes in the course of days changes for all. It costs opening each variant's model once a round.
    """

    def __init__(self, request: BenchRequest, ready: Mapping[str, Prepared], block: int | None) -> None:
        self._request, self._ready = request, ready
        self._total = max(one.manifest.data.count for one in ready.values())
        usual = max(USUAL_BLOCK, -(-self._total // MOST_ROUNDS))
        self._block = usual if block is None else block or self._total
        self._so_far: dict[str, RunProgress] = {}
        self._opened: set[str] = set()
        self._over: dict[str, Ending] = {}
        self._stopped = ""

    @property
    def trouble(self) -> list[str]:
        """What keeps the ablation from being whole."""
        lines = [self._stopped] if self._stopped else []
        lines += [f"{name}: {ending.words}" for name, ending in self._over.items() if ending.why == "given up"]
        for name, one in self._ready.items():
            failed = self._count(one, "failed")
            missing = self._total - failed - self._count(one, "located", "unlocated")
            if failed:
                lines.append(f"{name}: {plural(failed, 'photo', 'photos')} failed; --retry errors tries them again")
            if missing > 0:
                lines.append(f"{name}: {plural(missing, 'photo is', 'photos are')} missing")
        return lines

    async def work(self) -> None:
        """Go round until every variant is through, or a limit of the whole is reached."""
        retry = self._request.retry is not None
        with progress("answering", self._total * len(self._ready)) as bar, cancelled_by_ctrl_c():
            upto = self._total if retry else 0
            while not self._stopped:
                upto = min(self._total, upto + self._block)
                for at, (name, one) in enumerate(self._ready.items(), 1):
                    if name in self._over or (not retry and self._finished(one) >= upto):
                        continue
                    bar.turn_to(f"{at}/{len(self._ready)} {name}")
                    if not bar.drawn:
                        bar.say(f"{name}: up to photo {upto} of {self._total}")
                    ending = await self._one(name, one, upto, Live(bar))
                    self._so_far[name] = ending.progress
                    if ending.why in _LIMITS:
                        self._stopped = f"stopped at the limit of the whole ablation: {ending.words}"
                        break
                    if ending.why != "photos":
                        self._over[name] = ending
                if upto >= self._total:
                    return

    async def _one(self, name: str, one: Prepared, upto: int, live: Live) -> Ending:
        # What thinks and searches was closed at the end of the variant's last block.
        plan = bench_plan(one.request.locate) if name in self._opened else one.plan
        self._opened.add(name)
        return await run_bench(replace(one, plan=plan, limits=self._limits(name, one.limits, upto)), live)

    def _finished(self, one: Prepared) -> int:
        return self._count(one, "located", "unlocated", "failed")

    def _count(self, one: Prepared, *how: "PhotoState") -> int:
        if not (one.request.out / MANIFEST).exists():
            return 0
        return RunFolder.read(one.request.out).index.count(*how)

    def _limits(self, name: str, own: RunLimits, upto: int) -> RunLimits:
        """Return what is left of the whole ablation's limits is this variant's, on top of what it has used itself."""
        others = [self._spent(other, one) for other, one in self._ready.items() if other != name]
        photos = None if self._request.retry is not None else upto
        whole = self._request.limits
        return replace(
            own,
            photos=photos,
            tokens=None if whole.tokens is None else max(1, whole.tokens - sum(one[0] for one in others)),
            usd=None if whole.usd is None else max(0.0, whole.usd - sum(one[1] for one in others)),
            seconds=None if whole.seconds is None else max(0.001, whole.seconds - sum(one[2] for one in others)),
        )

    def _spent(self, name: str, one: Prepared) -> tuple[int, float, float]:
        """Return tokens, dollars and seconds of a variant so far."""
        so_far = self._so_far.get(name)
        if so_far is not None:
            return so_far.tokens, so_far.usd or 0.0, so_far.seconds
        if not (one.request.out / MANIFEST).exists():
            return 0, 0.0, 0.0
        index = RunFolder.read(one.request.out).index
        usage = index.spent.usage
        return usage.input_tokens + usage.output_tokens, usage.cost_usd or 0.0, index.seconds


def _report(
    out: Path, plan: AblationPlan, within_km: Sequence[float], *, strict: bool, as_json: bool, write: bool = True
) -> None:
    report = report_of(out, plan, within_km, scoring_placer(strict=strict))
    document = ablation_document(report)
    if write:
        _write(out, plan, report, document)
    if as_json:
        show_json(document)
    else:
        show(ablation_view(report))
    if write:
        talk(f"wrote {out / PAGE} and {out / DOCUMENT}")


def _write(out: Path, plan: AblationPlan, report: AblationReport, document: Mapping[str, Any]) -> None:
    found = preset(plan.preset) if plan.preset else None
    title = found.title if found else f"What is each variant worth against {report.baseline.name}?"
    page = ablation_page(
        report, title=title, notes=found.lines if found else (), generated=made_now(), command=command_line()
    )
    write_text_atomically(out / DOCUMENT, document_text(document))
    write_text_atomically(out / PAGE, page)


def report_of(
    out: Path, plan: AblationPlan, within_km: Sequence[float], place: PlaceText = place_nothing
) -> AblationReport:
    """Return the figures of an ablation's folder as it stands.

    Raises:
        BadInput: there is nothing to compare yet.
    """
    scored: dict[str, Scored] = {}
    for variant in plan.variants:
        results = out / variant.folder / RESULTS
        if results.is_file() and results.stat().st_size:
            plain = score_file(results, parser="lenient", distance="geodesic", label=variant.name)
            scored[variant.name] = with_placed(plain, place)
    first = plan.variants[0].name
    if first not in scored:
        raise BadInput(f"{out}: there is nothing to compare yet: {first} has no answer; continue the ablation")
    found = preset(plan.preset) if plan.preset else None
    rows = {name: row for name in scored if found is not None and (row := found.row(name)) is not None}
    return compare_variants(
        scored,
        words={one.name: one.words for one in plan.variants},
        published=rows,
        thresholds_km=within_km,
        empty=[one.name for one in plan.variants if one.name not in scored],
        data=RunFolder.read(out / plan.variants[0].folder).manifest.data.name,
    )
