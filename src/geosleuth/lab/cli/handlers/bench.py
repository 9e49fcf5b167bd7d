"""What ``bench score``, ``compare``, ``tier``, ``published`` and ``judge`` do; imported only when one runs."""

import asyncio
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from json import dumps
from math import isfinite
from pathlib import Path
from typing import Any, Literal

import typer

from geosleuth.answer import ParserName
from geosleuth.atlas.folders import cache_dir
from geosleuth.cli.preparation import asked
from geosleuth.geo import THRESHOLDS_KM, DistanceMethod, threshold_text
from geosleuth.geo.gcj02 import Datum
from geosleuth.lab.bench.export import pair_document, records_csv, score_csv, score_document
from geosleuth.lab.bench.judging import (
    Ask,
    Entry,
    Judge,
    JudgedFile,
    Limits,
    VerdictCache,
    entries_of,
    judge_entries,
    judged_csv,
    judged_document,
    judged_view,
)
from geosleuth.lab.bench.judging.judge import JudgeSettings
from geosleuth.lab.bench.page import render_page
from geosleuth.lab.bench.placed import PlaceText, place_nothing, placer_of
from geosleuth.lab.bench.records import read_records
from geosleuth.lab.bench.report import FileReport, PairReport, report_file, rows_for
from geosleuth.lab.bench.run.folder import MANIFEST, RESULTS
from geosleuth.lab.bench.scored import Scored, in_datum, score_file, with_placed
from geosleuth.lab.score import PublishedRow
from geosleuth.models import PREFIXES, EndpointSettings, Policy, Sampling, consent_line, make_policy
from geosleuth.support.console import (
    CTRL_C,
    Bar,
    cancelled_by_ctrl_c,
    progress,
    quiet_libraries,
    reading,
    show,
    show_json,
    talk,
)
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.files import refuse_to_replace, write_text_atomically
from geosleuth.support.text.numbers import plural

SCORE_ENDINGS = (".html", ".json", ".csv")
PAIR_ENDINGS = (".html", ".json")

ENDINGS = (".json", ".csv")
_PLURALS = {"country": "countries", "region": "regions", "city": "cities", "place": "replies"}


def thresholds_km(text: str | None) -> tuple[float, ...]:
    """Return the distances of a ``--within`` option, ascending; the ten usual ones without it."""
    if text is None:
        return THRESHOLDS_KM
    try:
        values = sorted(float(part) for part in text.split(","))
    except ValueError:
        values = []
    if not values or not all(isfinite(value) and value > 0 for value in values):
        raise BadInput(f"--within takes positive distances in km, such as 1,25,200; not {text!r}")
    # What reads the same is the same: a key of the JSON document must not stand for two distances.
    return tuple({threshold_text(value): value for value in reversed(values)}.values())[::-1]


def published(dataset: str | None) -> tuple[PublishedRow, ...]:
    """Return the papers' rows on a data set, if one was named."""
    return () if dataset is None else rows_for(dataset)


def score_all(
    files: Sequence[Path], parser: ParserName, distance: DistanceMethod, place: PlaceText | None = None
) -> list[Scored]:
    """Score files and the results of runs, with a progress bar; answers in words are placed, by the atlas if by none.

    A run is named by its folder; equal names are distinguished by folder, suffix or number.

    Raises:
        ServiceFault: a map service failed.
    """
    records = [records_of(path) for path in files]
    with reading(records) as progress:
        scored = [
            score_file(path, parser=parser, distance=distance, label=label, progress=progress)
            for path, label in zip(records, labels(files), strict=True)
        ]
    place = place or scoring_placer()
    return [with_placed(item, place) for item in scored]


def records_of(path: Path) -> Path:
    """Return the file of records that is meant: the path itself, or the results of the run whose folder it is.

    Raises:
        BadInput: a folder without results of a run.
    """
    if not path.exists() and not path.suffix:
        raise BadInput(f"{path}: there is no such folder of a run, and files of records end in .jsonl or .csv")
    if not path.is_dir():
        return path
    if not (path / MANIFEST).is_file():
        raise BadInput(f"{path}: this is a folder and no run; give a file of records, or the folder of a run")
    if not (path / RESULTS).is_file():
        raise BadInput(
            f"{path / RESULTS}: is not there yet; it is written when a run ends or stops: give the run's command again"
        )
    return path / RESULTS


def labels(files: Sequence[Path]) -> list[str]:
    """Return for each file or folder the shortest unique name."""
    files = [path.resolve() if path.is_dir() and not path.name else path for path in files]
    namings = (
        [path.name if path.is_dir() else path.stem for path in files],
        [str(path if path.is_dir() else path.parent / path.stem) for path in files],
        [str(path) for path in files],
        [f"{path} ({number})" for number, path in enumerate(files, 1)],
    )
    return [next(names[index] for names in namings if names.count(names[index]) == 1) for index in range(len(files))]


def scoring_placer(*, strict: bool = False, maps: str | None = None, allow: Sequence[str] = ()) -> PlaceText:
    """Return what places answers in words for scores: the atlas with its regions, a map service, or nothing.

    Raises:
        UserError: there is no such map service, or nobody agreed to its host.
    """
    from geosleuth.atlas import Atlas, OfflineAtlas
    from geosleuth.atlas.base import ensure_base
    from geosleuth.cli.preparation import building
    from geosleuth.locate.plan import map_service
    from geosleuth.locate.request import LocateRequest

    if strict:
        if maps is not None:
            raise BadInput("--maps places answers in words, and --strict counts none; leave one out")
        return place_nothing
    if maps is not None:
        service = map_service(LocateRequest(maps=maps, allow=tuple(allow)))
        return placer_of(lambda: service)

    def opened() -> Atlas:
        with building() as progress:
            ensure_base(progress)
        return OfflineAtlas()

    return placer_of(opened)


def in_datums(scored: Sequence[Scored], truths: Literal["wgs84", "gcj02", "both"], answers: Datum) -> list[Scored]:
    """Return the files with truths and answers read in the datum that is said; each twice for both."""
    datums: tuple[Datum, ...] = ("wgs84", "gcj02") if truths == "both" else (truths,)
    return [in_datum(item, truths=datum, answers=answers) for item in scored for datum in datums]


def report_all(
    scored: Sequence[Scored], by: Sequence[str], thresholds: Sequence[float], sure_within_km: float
) -> list[FileReport]:
    """Return the figures of every file."""
    return [report_file(item, by=by, thresholds_km=thresholds, selective_km=sure_within_km) for item in scored]


def positive_km(value: float, option: str) -> float:
    """Return the distance that an option gives, if it is one."""
    if not (isfinite(value) and value > 0):
        raise BadInput(f"{option} takes a positive distance in km, not {value:g}")
    return value


def check_outputs(
    paths: Sequence[Path],
    endings: Sequence[str],
    records: Path | None,
    inputs: Sequence[Path],
    *,
    overwrite: bool,
) -> None:
    """Check that every output can be written, before the work.

    Raises:
        BadInput: an output of an unknown kind, in a folder that is not there, in the place of another file we use, or
            there already and not to be replaced.
    """
    if records is not None and records.suffix.lower() != ".csv":
        raise BadInput(f"{records}: --records writes .csv")
    used = {os.path.realpath(path) for path in inputs}
    written = [*paths, *([] if records is None else [records])]
    for path in written:
        if not path.parent.is_dir():
            raise BadInput(f"{path}: the folder {path.parent} does not exist")
        if os.path.realpath(path) in used:
            raise BadInput(f"{path}: is already read or written by this command; give the output another name")
        used.add(os.path.realpath(path))
    for path in paths:
        if path.suffix.lower() not in endings:
            raise BadInput(f"{path}: --out writes {', '.join(endings[:-1])} or {endings[-1]}")
    refuse_to_replace(written, overwrite=overwrite)


def write_score(path: Path, reports: Sequence[FileReport], rows: Sequence[PublishedRow]) -> None:
    """Write the figures as a page, a document or a table, by the file's suffix."""
    match path.suffix.lower():
        case ".html":
            text = render_page(reports, published=rows, generated=made_now(), command=command_line())
        case ".json":
            text = as_json(score_document(reports, rows))
        case _:
            text = score_csv(reports)
    write_text_atomically(path, text)


def write_pair(path: Path, scored: Sequence[Scored], pair: PairReport, moved: int) -> None:
    """Write a comparison as a page, with the figures of both files, or as a document."""
    if path.suffix.lower() == ".html":
        thresholds = [item.threshold_km for item in pair.comparison.accuracies]
        reports = [report_file(item, thresholds_km=thresholds) for item in scored]
        text = render_page(
            reports, pairs=[pair], title="Which answers came closer?", generated=made_now(), command=command_line()
        )
    else:
        text = as_json(pair_document(pair, moved))
    write_text_atomically(path, text)


def made_now() -> str:
    """Return the current time for a page."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def as_json(document: Mapping[str, Any]) -> str:
    """Return a document as the text of a file."""
    return dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def command_line() -> str:
    """Return this command as it could be typed again."""
    return shlex.join(["geosleuth", *sys.argv[1:]])


def write_records(path: Path, scored: Sequence[Scored]) -> None:
    """Write one line per record."""
    write_text_atomically(path, records_csv(scored))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRequest:
    """The command's options, as given."""

    model: str
    base_url: str | None = None
    parser: ParserName = "lenient"
    ask: Ask = "undecided"
    sample: int = 100
    seed: int = 0
    jobs: int = 4
    questions: int | None = None
    tokens: int | None = None
    usd: float | None = None
    seconds: float | None = None
    reply_tokens: int | None = None
    retry_unreadable: bool = False
    cache: Path | None = None
    out: tuple[Path, ...] = ()
    overwrite: bool = False
    offline: bool = False
    yes: bool = False


def request_to_ask(options: Any, **more: Any) -> JudgeRequest:
    """Return the request of a command whose options say how a model is asked."""
    shared = ("base_url", "jobs", "questions", "tokens", "usd", "seconds", "reply_tokens", "retry_unreadable", "cache",
              "overwrite", "offline", "yes")  # fmt: skip
    return JudgeRequest(**{name: getattr(options, name) for name in shared}, **more)


def extract_file(path: Path, request: JudgeRequest, *, everything: bool, out: Path | None, as_json: bool) -> None:
    """Find the places in the replies of a file, print how many, write them as records.

    Raises:
        UserError: invalid input; nothing has been sent.
        GeosleuthError: the model failed, after the figures so far have been printed.
    """
    from geosleuth.lab.bench.judging.extraction import (
        Extractor,
        by_model,
        by_rule,
        extraction_document,
        extraction_view,
        record_of,
    )

    records_path = records_of(path)
    keep_in = request.cache or cache_dir() / "judge.sqlite"
    if out is not None:
        check_outputs([out], (".jsonl",), None, [records_path, keep_in], overwrite=request.overwrite)
    with reading([records_path]) as advance:
        readings = by_rule(list(read_records(records_path, advance)))
    so_far = None
    if request.model:
        with quiet_libraries():
            policy = _asking_policy(request)
            _ask_consent(policy, "what was replied, and no photo,", yes=request.yes)

            async def ask() -> None:
                nonlocal readings, so_far
                try:
                    with VerdictCache(keep_in) as cache, progress("reading replies") as bar, cancelled_by_ctrl_c():
                        extractor = Extractor(
                            policy, cache, model=_known_as(request), settings=_settings(request), watch=_Watch(bar)
                        )
                        so_far = extractor.progress
                        readings = await by_model(readings, extractor, everything=everything)
                finally:
                    await policy.aclose()

            asyncio.run(ask())
    if out is not None:
        lines = (dumps(record_of(one), ensure_ascii=False, allow_nan=False) + "\n" for one in readings)
        write_text_atomically(out, "".join(lines))
        talk(f"wrote {out}")
    document = extraction_document(readings, so_far)
    if as_json:
        show_json(document)
    else:
        show(extraction_view(document))
    if so_far is not None and so_far.failed:
        raise GeosleuthError(so_far.trouble or "the model failed")


def judge_file(path: Path, request: JudgeRequest, *, as_json: bool) -> None:
    """Judge a file of answers, print the figures, write what was asked for.

    Raises:
        UserError: invalid input; nothing has been sent.
        GeosleuthError: the model failed, after the figures so far have been printed.
    """
    with quiet_libraries():
        records = records_of(path)
        keep_in = request.cache or cache_dir() / "judge.sqlite"
        check_outputs(request.out, ENDINGS, None, [records, keep_in], overwrite=request.overwrite)
        policy = _asking_policy(request)
        entries = _entries(records, request.parser)
        told = "what was replied" if request.ask == "replies" else "the names of places in data set and answers"
        _ask_consent(policy, f"{told}, and no photo,", yes=request.yes)
        [label] = labels([path])
        try:
            judged = asyncio.run(_work(entries, policy, keep_in, request, label))
        except asyncio.CancelledError:
            talk("stopped; all verdicts so far are kept; run the same command to resume")
            raise typer.Exit(CTRL_C) from None
    for out in request.out:
        _write(out, judged)
        talk(f"wrote {out}")
    if as_json:
        show_json(judged_document(judged))
    else:
        show(judged_view(judged))
    _say_what_is_missing(judged)


def _entries(path: Path, parser: ParserName) -> list[Entry]:
    with reading([path]) as advance:
        entries = entries_of(read_records(path, advance), parser)
    if not entries:
        raise BadInput(f"{path}: the file holds no record")
    if not any(one.truth.country or one.truth.region or one.truth.city for one in entries):
        raise BadInput(f"{path}: no true place has a name (country, region or city), so that there is nothing to judge")
    return entries


def _asking_policy(request: JudgeRequest) -> Policy:
    if request.model.partition(":")[0].strip() not in PREFIXES:
        known = ", ".join(f"{one}:" for one in PREFIXES)
        raise BadInput(f"{request.model[:60]!r} can't judge names; a judge is a model that reads: {known}")
    settings = EndpointSettings(concurrency=request.jobs)
    return make_policy(request.model, base_url=request.base_url, settings=settings, offline=request.offline)


def _known_as(request: JudgeRequest) -> str:
    """Return the name that a model's words are kept under: the same name at another address may be another model."""
    return request.model if request.base_url is None else f"{request.model} at {request.base_url.rstrip('/')}"


def _settings(request: JudgeRequest) -> JudgeSettings:
    return JudgeSettings(
        limits=Limits(questions=request.questions, tokens=request.tokens, usd=request.usd, seconds=request.seconds),
        at_once=request.jobs,
        sampling=Sampling(temperature=0.0, max_tokens=request.reply_tokens),
        again_unreadable=request.retry_unreadable,
    )


def _ask_consent(policy: Policy, names: str, *, yes: bool) -> None:
    """Say where texts go, and ask before they leave the machine.

    Raises:
        BadInput: no consent was given.
    """
    consent = consent_line(policy, told=names, kept=names.rstrip(","))
    if yes or not policy.hosts:
        talk(consent)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{consent}; add --yes to allow it")
    elif not asked(f"{consent}. Continue?"):
        raise BadInput("stopped; nothing was sent")


async def _work(entries: list[Entry], policy: Policy, keep_in: Path, request: JudgeRequest, label: str) -> JudgedFile:
    try:
        with VerdictCache(keep_in) as cache, progress("judging") as bar, cancelled_by_ctrl_c():
            judge = Judge(policy, cache, model=_known_as(request), settings=_settings(request), watch=_Watch(bar))
            return await judge_entries(
                entries,
                judge,
                label=label,
                model=policy.name,
                ask=request.ask,
                sample=request.sample,
                seed=request.seed,
            )
    finally:
        await policy.aclose()


class _Watch:
    """Shows how far a level is."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar

    def __call__(self, done: int, total: int, level: str) -> None:
        self._bar.at(done, total, _PLURALS[level])


def _write(path: Path, judged: JudgedFile) -> None:
    if path.suffix.lower() == ".csv":
        write_text_atomically(path, judged_csv(judged))
    else:
        write_text_atomically(path, dumps(judged_document(judged), ensure_ascii=False, allow_nan=False) + "\n")


def _say_what_is_missing(judged: JudgedFile) -> None:
    so_far = judged.progress
    missing = judged.open + judged.agreement.not_judged
    if so_far.stopped is not None:
        left = plural(missing, "question is", "questions are")
        talk(f"stopped: {so_far.stopped}; {left} left open; run the same command to resume")
    elif so_far.failed:
        talk(f"{plural(so_far.failed, 'question', 'questions')} failed, and the same command asks them again")
    if so_far.failed:
        raise GeosleuthError(so_far.trouble or "the model failed")
