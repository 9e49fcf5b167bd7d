"""What ``geosleuth bench judge`` does once its words are read; imported only when it runs."""

import asyncio
import sys
from dataclasses import dataclass
from json import dumps
from pathlib import Path

import typer

from geosleuth.answer import ParserName
from geosleuth.app.cli.handlers.bench import check_outputs, labels, records_of
from geosleuth.app.console import (
    CTRL_C,
    Bar,
    asked,
    cancelled_by_ctrl_c,
    progress,
    quiet_libraries,
    reading,
    show,
    show_json,
    talk,
)
from geosleuth.atlas.folders import cache_dir
from geosleuth.bench.judging import (
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
from geosleuth.bench.judging.asking import JudgeSettings
from geosleuth.bench.records import read_records
from geosleuth.errors import BadInput, GeosleuthError
from geosleuth.files import write_text_atomically
from geosleuth.policies import PREFIXES, EndpointSettings, Policy, Sampling, consent_line, make_policy
from geosleuth.text.numbers import plural

ENDINGS = (".json", ".csv")


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
    offline: bool = False
    yes: bool = False


def judge_file(path: Path, request: JudgeRequest, *, as_json: bool) -> None:
    """Judge a file of answers, print the figures, write what was asked for.

    Raises:
        UserError: something must be mended; nothing has been sent.
        GeosleuthError: the model failed, after the figures so far have been printed.
    """
    with quiet_libraries():
        records = records_of(path)
        keep_in = request.cache or cache_dir() / "judge.sqlite"
        check_outputs(request.out, ENDINGS, None, [records, keep_in])
        if request.model.partition(":")[0].strip() not in PREFIXES:
            known = ", ".join(f"{one}:" for one in PREFIXES)
            raise BadInput(f"{request.model[:60]!r} can't judge names; a judge is a model that reads: {known}")
        settings = EndpointSettings(concurrency=request.jobs)
        policy = make_policy(request.model, base_url=request.base_url, settings=settings, offline=request.offline)
        entries = _entries(records, request.parser)
        _ask_leave(policy, yes=request.yes)
        [label] = labels([path])
        try:
            judged = asyncio.run(_work(entries, policy, keep_in, request, label))
        except asyncio.CancelledError:
            talk("stopped; every verdict so far is kept, and the same command goes on from there")
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


def _ask_leave(policy: Policy, *, yes: bool) -> None:
    """Say where names go, and ask before they leave the machine.

    Raises:
        BadInput: nobody agreed.
    """
    names = "the names of places in data set and answers, and no photo,"
    told = consent_line(policy, told=names, kept=names.rstrip(","))
    if yes or not policy.hosts:
        talk(told)
    elif not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise BadInput(f"{told}; add --yes to allow it")
    elif not asked(f"{told}. Go on?"):
        raise BadInput("stopped; nothing was sent")


async def _work(entries: list[Entry], policy: Policy, keep_in: Path, request: JudgeRequest, label: str) -> JudgedFile:
    limits = Limits(questions=request.questions, tokens=request.tokens, usd=request.usd, seconds=request.seconds)
    # The same name at another address may be another model.
    known_as = request.model if request.base_url is None else f"{request.model} at {request.base_url.rstrip('/')}"
    try:
        with VerdictCache(keep_in) as cache, progress("judging") as bar, cancelled_by_ctrl_c():
            judge = Judge(
                policy,
                cache,
                model=known_as,
                settings=JudgeSettings(
                    limits=limits,
                    at_once=request.jobs,
                    sampling=Sampling(temperature=0.0, max_tokens=request.reply_tokens),
                    again_unreadable=request.retry_unreadable,
                ),
                watch=_Watch(bar),
            )
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
        self._bar.at(done, total, {"country": "countries", "region": "regions", "city": "cities"}[level])


def _write(path: Path, judged: JudgedFile) -> None:
    if path.suffix.lower() == ".csv":
        write_text_atomically(path, judged_csv(judged))
    else:
        write_text_atomically(path, dumps(judged_document(judged), ensure_ascii=False, allow_nan=False) + "\n")


def _say_what_is_missing(judged: JudgedFile) -> None:
    so_far = judged.standing
    missing = judged.open + judged.agreement.not_judged
    if so_far.stopped is not None:
        left = plural(missing, "question is", "questions are")
        talk(f"stopped: {so_far.stopped}; {left} left open; the same command goes on from there")
    elif so_far.failed:
        talk(f"{plural(so_far.failed, 'question', 'questions')} failed, and the same command asks them again")
    if so_far.failed:
        raise GeosleuthError(so_far.trouble or "the model failed")
