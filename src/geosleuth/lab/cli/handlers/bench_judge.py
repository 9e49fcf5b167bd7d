"""Handlers of ``bench judge`` and ``bench extract``; imported only when one runs."""

from collections.abc import Awaitable, Callable
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from geosleuth.cli.preparation import agree, run_until_stopped
from geosleuth.lab.bench.judging.asking import Asker, AskProgress, Limits
from geosleuth.lab.bench.judging.extraction import (
    build_extracted_record,
    by_model,
    by_rule,
    extraction_document,
    extraction_view,
)
from geosleuth.lab.bench.judging.judged_file import collect_entries, format_judged_csv, judge_entries, render_judged
from geosleuth.lab.bench.memory import open_memory, usual_path
from geosleuth.lab.bench.records import Record, read_records
from geosleuth.lab.cli.handlers.bench import as_json, check_outputs, find_records_file, labels
from geosleuth.models import PREFIXES, EndpointSettings, Policy, Sampling, consent_line, make_policy
from geosleuth.support.console import (
    cancel_on_ctrl_c,
    progress,
    quiet_libraries,
    reading,
    show_result,
    talk,
)
from geosleuth.support.errors import BadInput, GeosleuthError
from geosleuth.support.files import write_text_atomically
from geosleuth.support.text.numbers import plural

if TYPE_CHECKING:
    from geosleuth.lab.cli.bench import AskOptions, ExtractOptions, JudgeOptions

ENDINGS = (".json", ".csv")
_PLURALS = {"country": "countries", "region": "regions", "city": "cities", "place": "replies"}
Found = TypeVar("Found")


def extract_file(options: "ExtractOptions") -> None:
    """Find the places in the replies of a file, print how many, write them as records.

    Raises:
        UserError: invalid input; nothing has been sent.
        GeosleuthError: the model failed, after the figures so far have been printed.
    """
    path = find_records_file(options.file)
    if options.out is not None:
        kept = options.cache or usual_path()
        check_outputs([options.out], (".jsonl",), None, [path, kept], overwrite=options.overwrite)
    readings, so_far = by_rule(_read_records(path)), AskProgress()
    if options.model:
        policy = _open_policy(options.model, options)
        _ask_consent(policy, "what was replied, and no photo,", yes=options.yes)
        readings, so_far = _ask_with_progress(
            policy, options.model, options, lambda asker: by_model(readings, asker, everything=options.everything)
        )
    if options.out is not None:
        lines = (dumps(build_extracted_record(item), ensure_ascii=False, allow_nan=False) + "\n" for item in readings)
        write_text_atomically(options.out, "".join(lines))
        talk(f"wrote {options.out}")
    document = extraction_document(readings, so_far)
    show_result(document, extraction_view(document), as_json=options.as_json)
    if so_far.failed:
        raise GeosleuthError(so_far.trouble or "the model failed")


def judge_file(options: "JudgeOptions") -> None:
    """Judge a file of answers, print the figures, write what was asked for.

    Raises:
        UserError: invalid input; nothing has been sent.
        GeosleuthError: the model failed, after the figures so far have been printed.
    """
    path = find_records_file(options.file)
    check_outputs(options.out, ENDINGS, None, [path, options.cache or usual_path()], overwrite=options.overwrite)
    policy = _open_policy(options.model, options)
    entries = collect_entries(_read_records(path), options.parser)
    if not entries:
        raise BadInput(f"{path}: the file holds no record")
    if not any(entry.truth.country or entry.truth.region or entry.truth.city for entry in entries):
        raise BadInput(f"{path}: no true place has a name (country, region or city), so that there is nothing to judge")
    told = "what was replied" if options.ask == "replies" else "the names of places in data set and answers"
    _ask_consent(policy, f"{told}, and no photo,", yes=options.yes)
    [label] = labels([options.file])
    judged, so_far = _ask_with_progress(
        policy, options.model, options,
        lambda asker: judge_entries(
            entries, asker, label=label, ask=options.ask, sample=options.sample, seed=options.seed
        ),
    )  # fmt: skip
    for out in options.out:
        text = format_judged_csv(judged.rows) if out.suffix.lower() == ".csv" else as_json(judged.document)
        write_text_atomically(out, text)
        talk(f"wrote {out}")
    show_result(judged.document, render_judged(judged.document), as_json=options.as_json)
    if so_far.stopped is not None:
        left = plural(judged.open, "question is", "questions are")
        talk(f"stopped: {so_far.stopped}; {left} left open; run the same command to resume")
    elif so_far.failed:
        talk(f"{plural(so_far.failed, 'question', 'questions')} failed, and the same command asks them again")
    if so_far.failed:
        raise GeosleuthError(so_far.trouble or "the model failed")


def _read_records(path: Path) -> list[Record]:
    with reading([path]) as advance:
        return list(read_records(path, advance))


def _open_policy(model: str, options: "AskOptions") -> Policy:
    if model.partition(":")[0].strip() not in PREFIXES:
        known = ", ".join(f"{item}:" for item in PREFIXES)
        raise BadInput(f"{model[:60]!r} can't judge names; a judge is a model that reads: {known}")
    with quiet_libraries():
        settings = EndpointSettings(concurrency=options.jobs)
        return make_policy(model, base_url=options.base_url, settings=settings, offline=options.offline)


def _ask_with_progress(
    policy: Policy, model: str, options: "AskOptions", work: Callable[[Asker], Awaitable[Found]]
) -> tuple[Found, AskProgress]:
    """Run work that needs a model's replies, with a progress bar; a stop loses no reply."""

    async def ask() -> tuple[Found, AskProgress]:
        try:
            with open_memory(options.cache) as memory, progress("asking") as bar, cancel_on_ctrl_c():
                asker = Asker(
                    policy=policy,
                    memory=memory,
                    # The same name at another address may be another model.
                    model=model if options.base_url is None else f"{model} at {options.base_url.rstrip('/')}",
                    limits=Limits(
                        questions=options.questions, tokens=options.tokens, usd=options.usd, seconds=options.seconds
                    ),
                    at_once=options.jobs,
                    sampling=Sampling(temperature=0.0, max_tokens=options.reply_tokens),
                    again_unreadable=options.retry_unreadable,
                    watch=lambda done, total, about: bar.update(done, total, _PLURALS[about]),
                )
                return await work(asker), asker.progress
        finally:
            await policy.aclose()

    with quiet_libraries():
        return run_until_stopped(ask(), "all replies so far are kept; run the same command to resume")


def _ask_consent(policy: Policy, names: str, *, yes: bool) -> None:
    """Say where texts go, and ask before they leave the machine."""
    consent = consent_line(policy, told=names, kept=names.rstrip(","))
    agree(consent, yes=yes or not policy.hosts, stopped="nothing was sent")
