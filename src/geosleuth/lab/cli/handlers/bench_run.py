"""Handler of ``geosleuth bench run``; imported only when it runs."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

import typer

from geosleuth import __version__
from geosleuth.cli.options import RunOptions, build_request
from geosleuth.cli.preparation import GO_ON, Lines, ask_consent, offline_atlas, run_until_stopped
from geosleuth.lab.bench.masking import build_masking_jobs
from geosleuth.lab.bench.placed import format_placed
from geosleuth.lab.bench.run.attempt import (
    BenchMaking,
    Recordings,
    bench_plan,
    is_recording,
    load_recordings,
    make_attempt,
)
from geosleuth.lab.bench.run.engine import (
    Ending,
    JobOf,
    LocalWorker,
    RunLimits,
    RunListeners,
    RunRules,
    plain_job,
    run_set,
)
from geosleuth.lab.bench.run.folder import MANIFEST, RunFolder
from geosleuth.lab.bench.run.journal import Worker
from geosleuth.lab.bench.run.manifest import DataInfo, Manifest
from geosleuth.lab.bench.run.results import RunProgress, accuracy_to_dict
from geosleuth.lab.bench.sets import BoxKind, DataSet, build_selection, fingerprint, open_set, subset
from geosleuth.lab.cli.handlers.bench import scoring_placer
from geosleuth.models.endpoints import Rests, listening
from geosleuth.pipeline.model_choice import DETECTIVE
from geosleuth.pipeline.plan import Plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.pipeline.searches import prior_file
from geosleuth.support.console import (
    EXIT_SOME_FAILED,
    ProgressBar,
    cancel_on_ctrl_c,
    progress,
    quiet_libraries,
    show_result,
    talk,
)
from geosleuth.support.errors import BadInput
from geosleuth.support.text.numbers import count, distance, percent_sign, plural

if TYPE_CHECKING:
    from rich.console import RenderableType

    from geosleuth.lab.cli.bench import AblateOptions, BenchOptions, WholeRunOptions

SHOWN_KM = (1.0, 25.0, 200.0, 750.0)

_AT_ONCE_DETECTIVE, _AT_ONCE_MODEL, _AT_ONCE_RECORDED = 2, 4, 64
# What says where files go and who may be asked, not what is answered.
_NO_PART_OF_AN_ANSWER = frozenset(
    ("out", "overwrite", "trajectory", "yes", "write_exif", "sidecars", "offline", "requests", "allow", "drawn", "seed")
)


class Live:
    """Shows how a run stands: at a terminal in the bar, elsewhere as a line now and then."""

    def __init__(self, bar: ProgressBar) -> None:
        """Show it in this bar."""
        self._lines = Lines(bar)

    def __call__(self, so_far: RunProgress) -> None:
        """Show the newest."""
        left = "" if so_far.eta_s is None else f", about {_duration(so_far.eta_s)} left"
        self._lines(so_far.done, so_far.total, progress_words(so_far), left)


def progress_words(so_far: RunProgress) -> str:
    """Return accuracy so far, failures, cost, and resting services, on one line."""
    parts = []
    if so_far.within_25km is not None:
        parts.append(f"{percent_sign(100 * so_far.within_25km)} within 25 km")
    if so_far.failed:
        parts.append(plural(so_far.failed, "error", "errors"))
    if so_far.tokens:
        parts.append(f"{count(so_far.tokens)} tokens")
    if so_far.usd:
        parts.append(f"${so_far.usd:.2f}")
    if so_far.resting:
        parts.append(f"{so_far.resting} is left alone for a while")
    return ", ".join(parts)


def ending_view(ending: Ending, folder: Path) -> "RenderableType":
    """Return what came of it, for people."""
    from rich.table import Table

    so_far = ending.progress
    table = Table(box=None, show_header=False, pad_edge=False)
    answered = f"{count(so_far.answered)} of {plural(so_far.total, 'photo', 'photos')}"
    placed, without = ending.summary.placed, ending.summary.unlocated
    in_words = f", {format_placed(placed)}" if placed else ""
    unlocated = f"{in_words}, {count(without)} of them without a place" if without else in_words
    rows = [
        ("answered", answered + unlocated),
        ("errors", f"{count(so_far.failed)}, in no other figure; --retry errors tries them again")
        if so_far.failed
        else ("errors", "none"),
        ("services", "\n".join(map(str, ending.summary.spent.services))) if ending.summary.spent.services else None,
        ("missing", f"{count(so_far.missing)}; {ending.words}") if so_far.missing else None,
        ("within 1, 25, 200, 750 km", _accuracies(ending)) if so_far.answered else None,
        ("median error", distance(ending.summary.accuracy.median_km.value)) if so_far.answered else None,
        ("spent", _spent(so_far)),
        ("kept in", str(folder)),
        ("look closer", f"geosleuth bench report {quote(str(folder))} --out report.html"),
    ]
    for row in rows:
        if row is not None:
            table.add_row(*row)
    return table


def _accuracies(ending: Ending) -> str:
    within = ending.summary.accuracy.within
    return ", ".join(percent_sign(within[km].percent.value) for km in SHOWN_KM)


def _spent(so_far: RunProgress) -> str:
    parts = [_duration(so_far.seconds)]
    if so_far.tokens:
        parts.append(f"{count(so_far.tokens)} tokens")
    if so_far.usd is None:
        parts.append("money not known")
    elif so_far.usd:
        parts.append(f"${so_far.usd:.4f}")
    return ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def ending_document(ending: Ending, folder: Path) -> dict[str, Any]:
    """Return what came of it, for programs."""
    so_far = ending.progress
    return {
        "run": str(folder),
        "ended": ending.why,
        "words": ending.words,
        "photos": so_far.total,
        "answered": so_far.answered,
        "unlocated": ending.summary.unlocated,
        "placed": dict(ending.summary.placed),
        "errors": so_far.failed,
        "services": [asdict(use) for use in ending.summary.spent.services],
        "missing": so_far.missing,
        "accuracy": accuracy_to_dict(ending.summary),
        "tokens": so_far.tokens,
        "usd": so_far.usd,
        "seconds": round(so_far.seconds, 3),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRequest:
    """The words of ``bench run``."""

    data: str
    locate: LocateRequest = field(repr=False)
    out: Path
    at_once: int | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    retry: Literal["errors"] | None = None
    limit: int | None = None
    sample_seed: int = 0
    only: tuple[str, ...] = ()
    cluster: str | None = None
    gpus: float = 0.0
    mask: BoxKind | None = None
    unmasked: Path | None = None
    partial: bool = False
    strict: bool = False

    @classmethod
    def from_options(cls, options: "BenchOptions | AblateOptions") -> "BenchRequest":
        """Return what the words of ``bench run`` or ``bench ablate`` ask for."""
        same = {item.name: getattr(options, item.name) for item in fields(cls) if hasattr(options, item.name)}
        locate = build_request(options, RunOptions, requests=options.per_host)
        return cls(**same | {"only": tuple(options.only)}, locate=locate, limits=build_limits(options))

    @property
    def selection(self) -> dict[str, Any]:
        """Photos chosen from the set, in the form that the manifest stores."""
        return {**build_selection(self.limit, self.sample_seed), "only": list(self.only)}


def build_limits(options: "WholeRunOptions") -> RunLimits:
    """Return what a whole run may use."""
    return RunLimits(tokens=options.run_tokens, usd=options.run_usd, seconds=options.run_seconds)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A run that can begin: everything is checked, nothing has been written or sent."""

    request: BenchRequest
    data: DataSet
    plan: Plan
    recordings: Recordings | None
    manifest: Manifest
    limits: RunLimits
    job_of: JobOf
    at_once: int


def prepare(request: BenchRequest) -> Prepared:
    """Open the data set and check the request; say where photos go, and ask before they leave the machine."""
    if request.retry is not None and not (request.out / MANIFEST).is_file():
        raise BadInput(f"{request.out}: there is no run whose errors could be tried again; leave out --retry")
    if request.gpus and request.cluster is None:
        raise BadInput("--gpus is for the processes of a cluster; name it with --cluster, or leave it out")
    at_once = request.at_once or usual_at_once(request.locate)
    locate = request.locate
    if locate.requests is None:
        locate = replace(locate, requests=at_once * locate.parallel)
    data = subset(open_set(request.data), limit=request.limit, seed=request.sample_seed, only=request.only)
    plan, recordings = bench_plan(locate), load_recordings(locate)
    with progress("looking through the data set", measure="time"):
        count, sha256 = fingerprint(data)
        job_of = plain_job if request.mask is None else build_masking_jobs(request.mask, request.unmasked, data)
    if request.mask is None and request.unmasked is not None:
        raise BadInput("--unmasked is the run whose clues are hidden; it goes with --mask clue")
    if not count:
        why = "no photo is left to work on; check --only" if request.only else "holds no photo with a known place"
        raise BadInput(f"{request.data}: {why}")
    if recordings is not None and not any(item.id in recordings.said for item in data):
        raise BadInput(f"{locate.model}: has a recording of none of these photos; their ids must be the same")
    if plan.method.paper and plan.missing_tools and not request.partial and recordings is None:
        raise BadInput(f"{plan.missing_tools}; bring them, or add --partial to go on without them")
    ask_consent(plan, yes=locate.yes)
    # What the model says of itself is part of what the run is.
    plan = asyncio.run(_settle_plan(plan)) if recordings is None else plan
    manifest = Manifest(
        data=DataInfo(data.card.name, count, sha256, request.selection),
        settings={**collect_settings(locate, plan, recordings), **_describe_unmasked_run(request.unmasked)},
        seed=locate.seed,
        mask=request.mask,
    )
    budget, minds = plan.budget, _minds(plan)
    limits = replace(
        request.limits,
        tokens_per_photo=None if budget.tokens is None else minds * budget.tokens,
        usd_per_photo=None if budget.usd is None else minds * budget.usd,
    )
    return Prepared(replace(request, locate=locate), data, plan, recordings, manifest, limits, job_of, at_once)


async def _settle_plan(plan: Plan) -> Plan:
    """Return the plan adapted to served models; local weights are asked when they are loaded."""
    served = [thinker for thinker in plan.thinkers if hasattr(thinker, "target")]
    if not served:
        return plan
    try:
        return await plan.resolve_model_details(talk)
    finally:
        for item in served:
            await item.aclose()  # connections of this event loop are of no use in the run's


def _minds(plan: Plan) -> int:
    """Return how many budgets a photo gets: one per try plus the verifier's; a team shares one."""
    several = plan.several
    return 1 if several is None or several.team is not None else several.tries + (several.verifier is not None)


def collect_settings(locate: LocateRequest, plan: Plan, recordings: Recordings | None) -> dict[str, Any]:
    """Return all that decides an answer beside the photo; no key, and no path that says more than a name."""
    settings = {
        name: value
        for name, value in asdict(locate).items()
        if name not in _NO_PART_OF_AN_ANSWER and value not in (None, (), False)
    }
    for name in ("team", "mcp"):
        if name in settings:
            settings[name] = _file_digest(Path(settings[name]))
    settings.pop("policy_card", None)
    if plan.card is not None:
        settings["policy_card"] = plan.card.words_sha256
    team = plan.several.team if plan.several else None
    settings.pop("prompts", None)
    if words := (plan.method.prompts_sha256 if team is None else team.prompts_sha256):
        settings["prompts"] = words
    if plan.searches.index is not None:
        settings["image_search"] = plan.searches.index.fingerprint
    if plan.searches.visual is not None and (prior := prior_file(locate.prior, _list_tools(plan))):
        settings["prior"] = _file_digest(prior)
    if locate.base_url is not None:
        parts = urlsplit(locate.base_url)
        settings["base_url"] = f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}{parts.path}"
    if recordings is not None:
        settings["model"] = "replay"
        settings["recording_sha256"] = recordings.sha256
    return {
        **{name: list(value) if isinstance(value, tuple) else value for name, value in settings.items()},
        "thinks": plan.policy.name,
        **({"trained_on_test": sorted(seen)} if (seen := _tests_seen(plan)) else {}),
        **({"fingerprint": mark} if (mark := getattr(plan.policy, "fingerprint", None)) else {}),
        "method": plan.method.name,
        "tools": sorted(plan.toolset.names),
        "budget": asdict(plan.budget),
        "sampling": asdict(plan.sampling),
        "wire": plan.wire,
    }


def _tests_seen(plan: Plan) -> set[str]:
    """Return the data sets whose test photos a model of the run was trained on."""
    return {name for thinker in plan.thinkers for name in getattr(thinker, "trained_on_test", ())}


def _list_tools(plan: Plan) -> frozenset[str]:
    team = plan.several.team if plan.several else None
    return frozenset(plan.toolset.names) if team is None else team.tools


def _describe_unmasked_run(path: Path | None) -> dict[str, str]:
    """Return the id of the run whose clues are hidden: another id makes another run."""
    return {} if path is None else {"unmasked": RunFolder.read(path).manifest.id}


def _file_digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error


def usual_at_once(locate: LocateRequest) -> int:
    """Return how many photos are worked on at once where the user does not say."""
    if is_recording(locate.model):
        return _AT_ONCE_RECORDED
    return _AT_ONCE_DETECTIVE if locate.model in (None, DETECTIVE) and locate.team is None else _AT_ONCE_MODEL


async def run_bench(ready: Prepared, watch: Callable[[RunProgress], None]) -> Ending:
    """Locate every unfinished photo; the folder has all results.

    Raises:
        UserError: the run can't start or resume; what was finished is kept.
    """
    request = ready.request
    rests = Rests()
    with RunFolder.begin(request.out, ready.manifest, talk) as folder, listening(rests), ready.plan.announcing(talk):
        if folder.manifest.geosleuth != __version__:
            talk(f"this run was started by geosleuth {folder.manifest.geosleuth} and continues with {__version__}")
        async with _worker(ready, folder) as worker:
            return await run_set(
                ready.data,
                folder,
                worker,
                at_once=ready.at_once,
                rules=RunRules(limits=ready.limits, retry=request.retry, place=scoring_placer(strict=request.strict)),
                listeners=RunListeners(watch=watch, resting=rests.host),
                job_of=ready.job_of,
            )


@asynccontextmanager
async def _worker(ready: Prepared, folder: RunFolder) -> AsyncIterator[Worker]:
    address = ready.request.cluster
    if address is not None:
        from geosleuth.lab.bench.run.cluster import ray_worker

        making = BenchMaking(ready.request.locate)
        async with ray_worker(
            address, making, folder, at_once=ready.at_once, gpus=ready.request.gpus, say=talk
        ) as worker:
            yield worker
        return
    made = await make_attempt(ready.plan, ready.recordings, atlas_opener=offline_atlas)
    try:
        yield LocalWorker(made.attempt, folder)
    finally:
        await made.aclose()


def bench_run(request: BenchRequest, *, as_json: bool) -> None:
    """Run a benchmark, with progress on stderr, and print the result."""
    with quiet_libraries():
        ready = prepare(request)
        ending = run_until_stopped(_run_with_progress(ready), f"{request.out} {GO_ON}")
    show_result(ending_document(ending, request.out), ending_view(ending, request.out), as_json=as_json)
    if ending.progress.failed or ending.progress.missing:
        talk(ending.words)
        raise typer.Exit(EXIT_SOME_FAILED)


async def _run_with_progress(ready: Prepared) -> Ending:
    with progress("answering", ready.manifest.data.count) as bar, cancel_on_ctrl_c():
        return await run_bench(ready, Live(bar))
