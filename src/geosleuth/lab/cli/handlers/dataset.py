"""Handlers of ``dataset list``, ``card``, ``check``, ``duplicates``, ``rate``, ``filter`` and ``tier``."""

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, aclosing
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import RenderableType

from geosleuth.cli.preparation import ask_consent, run_until_stopped
from geosleuth.geo import threshold_text
from geosleuth.geo.extent import plain
from geosleuth.lab.bench.makers.duplicates import (
    NO_FINGERPRINT,
    Pair,
    first_of_each,
    group_pairs,
    pairs_across,
    pairs_within,
    prints,
)
from geosleuth.lab.bench.makers.photo_tables import check_table, field_names, format_rows, writing_table
from geosleuth.lab.bench.makers.place_labels import TIER, Tiered, with_tiers
from geosleuth.lab.bench.makers.ratings import (
    FIELDS,
    Filter,
    GivenUp,
    RatedLook,
    RatedPhoto,
    Sieved,
    by_model,
    each,
    printing,
    sieve,
)
from geosleuth.lab.bench.memory import Memory, open_memory
from geosleuth.lab.bench.report import tier_files
from geosleuth.lab.bench.sets import Card, DataSet, Description, Item, cards, describe, open_set, subset
from geosleuth.lab.bench.sets.dataset import with_part
from geosleuth.models import EndpointSettings, Usage, make_policy
from geosleuth.models.detective import Detective
from geosleuth.names import country_name
from geosleuth.pipeline.plan import Plan, make_plan
from geosleuth.pipeline.request import LocateRequest
from geosleuth.support.console import (
    EXIT_INTERRUPTED,
    EXIT_SOME_FAILED,
    cancel_on_ctrl_c,
    facts_view,
    progress,
    quiet_libraries,
    show,
    show_json,
    show_result,
    table_view,
    talk,
)
from geosleuth.support.errors import BadInput
from geosleuth.support.files import refuse_to_replace, write_text_atomically
from geosleuth.support.text.numbers import count, plural
from geosleuth.support.text.safe import one_line, printable

from .bench import find_records_file, positive_km, score_all

if TYPE_CHECKING:
    from geosleuth.lab.cli.dataset import DuplicatesOptions, FilterRatedOptions, RateOptions

MAX_SIDE = 65_000
_SIZE = re.compile(r"\s*(\d{1,6})\s*[xX×]\s*(\d{1,6})\s*")
_MODEL_JOBS = 4
_TOLD_FAILURES = 5
_REPORT_EVERY = 100

_BANDS = ("10", "8-9", "6-7", "4-5", "1-3", "0")
_COUNTRIES_SHOWN = 15
_FAULTS_SHOWN = 5
_JOBS = 2


def parse_size(text: str, name: str) -> tuple[int, int]:
    """Return the two numbers of an option such as 4096x2048."""
    match = _SIZE.fullmatch(text)
    if match is None or not all(1 <= int(part) <= MAX_SIDE for part in match.groups()):
        raise BadInput(f"{name} is {text[:40]!r}; write two numbers such as 4096x2048")
    return int(match[1]), int(match[2])


def check_outputs(paths: Sequence[Path | None], specs: Sequence[str], *, overwrite: bool) -> None:
    """Check that tables can be written, before any work is done."""
    wanted = [path for path in paths if path is not None]
    named = [spec.partition("::")[0] for spec in specs]
    read = [Path(part) for spec in named for part in (spec, spec.partition(":")[2]) if part]
    for number, path in enumerate(wanted):
        check_table(path, *read, *wanted[:number])
    refuse_to_replace(wanted, overwrite=overwrite)


def rate_set(options: "RateOptions") -> None:
    """Rate every photo, and write the table at the end."""
    out = options.out
    check_outputs([out], [options.data], overwrite=options.overwrite)
    data = with_part(subset(open_set(options.data), limit=options.limit))
    with quiet_libraries():
        jobs = options.jobs or _MODEL_JOBS
        plan = _plan(options, jobs)
        ask_consent(plan, yes=options.yes)
        ratings = _Ratings(plan.policy.name)
        try:
            asyncio.run(_rate(data, out, plan, ratings, jobs, again=options.ask_again))
        except asyncio.CancelledError:
            talk(f"stopped; {plural(ratings.rated, 'rating is', 'ratings are')} kept; run the same command to resume")
            raise typer.Exit(EXIT_INTERRUPTED) from None
        except GivenUp as error:
            raise GivenUp(f"{one_line(str(error))}; replies are kept; run the same command to resume") from error
    show_result({**ratings.document(), "out": str(out)}, ratings.view(), as_json=options.as_json)
    talk(f"wrote {out}")
    if ratings.failed:
        talk(
            f"{plural(ratings.failed, 'photo has', 'photos have')} no rating; the same command with --overwrite tries "
            "them alone, and with --ask-again those, too, whose replies hold none"
        )
        raise typer.Exit(EXIT_SOME_FAILED)


def _plan(options: "RateOptions", jobs: int) -> Plan:
    model, base_url, offline = options.model, options.base_url, options.offline
    if model.startswith("replay:") or model == Detective.name:
        raise BadInput(f"{model}: doesn't look at photos; name a model that does with --model")
    at_once = EndpointSettings(concurrency=max(EndpointSettings().concurrency, jobs))
    policy = make_policy(model, base_url=base_url, settings=at_once, offline=offline)
    request = LocateRequest(model=model, base_url=base_url, offline=offline, yes=options.yes, tools="none")
    return make_plan(request, [], thinker=policy)


class _Ratings:
    """Results of a rating so far."""

    def __init__(self, by: str) -> None:
        self.by, self.rated, self.known, self.failed = by, 0, 0, 0
        self.usage, self.bands, self.landmarks = Usage(tries=0), Counter[str](), 0

    def add(self, seen: RatedPhoto[RatedLook]) -> None:
        look = seen.found
        if look is None:
            self.failed += 1
            self.usage += seen.wasted
            if self.failed <= _TOLD_FAILURES:
                talk(f"not rated: {seen.trouble}")
            return
        self.rated += 1
        self.known += look.known
        self.usage += look.usage
        self.landmarks += look.landmark is not None
        self.bands[_band(look.locatability.score)] += 1

    @property
    def done(self) -> int:
        """Photos that were looked at, or tried."""
        return self.rated + self.failed

    def document(self) -> dict[str, Any]:
        """Return the account, for programs."""
        return {
            "by": self.by,
            "rated": self.rated,
            "known_before": self.known,
            "failed": self.failed,
            "landmarks": self.landmarks,
            "bands": {band: self.bands[band] for band in _BANDS},
            "input_tokens": self.usage.input_tokens,
            "output_tokens": self.usage.output_tokens,
            "cost_usd": self.usage.cost_usd,
        }

    def view(self) -> RenderableType:
        """Return the account, for people."""
        rows = [(band, str(self.bands[band])) for band in _BANDS]
        rows += [("famous landmarks", str(self.landmarks)), ("not rated", str(self.failed))]
        rows.append(("known before, not asked again", str(self.known)))
        cost = "unknown" if self.usage.cost_usd is None else f"{self.usage.cost_usd:.4f} USD"
        rows.append(("tokens now", f"{self.usage.input_tokens} in, {self.usage.output_tokens} out; {cost}"))
        return table_view((f"locatability by {self.by}", "photos"), rows)


def _band(score: float) -> str:
    edges = ((9.75, "10"), (7.75, "8-9"), (5.75, "6-7"), (3.75, "4-5"), (0.75, "1-3"))
    return next((band for edge, band in edges if score >= edge), "0")


async def _rate(data: DataSet, out: Path, plan: Plan, ratings: _Ratings, jobs: int, *, again: bool) -> None:
    async with AsyncExitStack() as held:
        await plan.load(held)
        memory = held.enter_context(open_memory())
        total, fields = _count_photos(data)
        looking = by_model(plan.policy, memory, again=again)
        write = held.enter_context(writing_table(out, (*fields, *FIELDS)))
        bar = held.enter_context(progress("rating", total))
        held.enter_context(cancel_on_ctrl_c())
        nothing = dict.fromkeys(FIELDS, "")
        async with aclosing(each(data, looking, at_once=jobs)) as all_seen:
            async for seen in all_seen:
                ratings.add(seen)
                write(seen.item, nothing if seen.found is None else seen.found.fields())
                bar.advance()
                if not bar.is_drawn and ratings.done % _REPORT_EVERY == 0:
                    talk(f"{ratings.done} of {total} looked at, {ratings.failed} failed")


def _count_photos(data: DataSet) -> tuple[int, list[str]]:
    count = 0

    def counting() -> Any:
        nonlocal count
        for item in data:
            count += 1
            yield item

    names = field_names(counting())
    return count, names


def filter_set(options: "FilterRatedOptions") -> None:
    """Write the photos that stay, and those left out if wanted."""
    out, dropped = options.out, options.dropped
    size = None if options.least_size is None else parse_size(options.least_size, "--least-size")
    wanted = Filter(options.least, not options.keep_landmarks, size, options.column)
    check_outputs([out, dropped], [options.data], overwrite=options.overwrite)
    data = with_part(open_set(options.data))
    fields, counted = field_names(data), Sieved()
    with ExitStack() as held:
        keep = held.enter_context(writing_table(out, fields))
        drop = None if dropped is None else held.enter_context(writing_table(dropped, (*fields, "dropped_for")))

        def gone(item: Item, reason: str) -> None:
            if drop is not None:
                drop(item, {"dropped_for": reason})

        for item in sieve(data, wanted, counted, gone):
            keep(item)
    counts = [(f"left out: {reason}", str(number)) for reason, number in sorted(counted.dropped.items())]
    view = table_view(("photos", ""), [("kept", str(counted.kept)), *counts])
    document = {"kept": counted.kept, "dropped": dict(counted.dropped), "out": str(out)}
    show_result(document, view, as_json=options.as_json)
    talk(f"wrote {out}")


def tier_set(
    spec: str, answers: Sequence[Path], out: Path, *, within_km: float, overwrite: bool, as_json: bool
) -> None:
    """Write the set with the tier that recorded answers give its photos."""
    positive_km(within_km, "--within-km")
    files = [find_records_file(path) for path in answers]
    check_outputs([out], [spec, *map(str, files)], overwrite=overwrite)
    data, counted = with_part(open_set(spec)), Tiered()
    tiers = tier_files(score_all(files, "lenient", "geodesic"), within_km)
    with writing_table(out, field_names(data, TIER)) as write:
        for item, fields in with_tiers(data, tiers, counted):
            write(item, fields)
    numbers = {"easy": counted.easy, "hard": counted.hard, "unknown": counted.unknown}
    view = table_view(("tier", "photos"), [(name, str(number)) for name, number in numbers.items()])
    show_result({**numbers, "out": str(out)}, view, as_json=as_json)
    talk(f"wrote {out}")


def show_list(*, as_json: bool) -> None:
    """Print every set that has a name."""
    known, broken = cards()
    for item in broken:
        talk(f"geosleuth: {item}")
    if as_json:
        show_json([plain(card) for card in known.values()])
        return
    rows = [(card.name, card.title, _photos(card), card.licence) for card in known.values()]
    show(table_view(("name", "what it is", ">photos", "licence"), rows))
    talk("point at what you have downloaded: geosleuth dataset check NAME:PATH; more: geosleuth dataset card NAME")


def show_card(name: str, *, as_json: bool) -> None:
    """Print what is known of one set."""
    known, _ = cards()
    card = known.get(name.strip().lower()) or known.get(name.strip())
    if card is None:
        raise BadInput(f"no data set is called {name[:40]!r}; there are {', '.join(known)}")
    show_result(plain(card), facts_view(_card_facts(card)), as_json=as_json)


def check_set(spec: str, *, as_json: bool) -> bool:
    """Print what is on this disk; return whether a run could use it."""
    data = open_set(spec)
    with progress(f"looking at {data.card.name}", data.card.photos) as bar:
        seen = describe(data, bar.advance)
    document = {**plain(seen), "root": str(data.root), "is_whole": seen.is_whole, "is_usable": seen.is_usable}
    show_result(document, _check_view(seen, data.root), as_json=as_json)
    if not as_json:
        _report(seen)
    return seen.is_usable


def _photos(card: Card) -> str:
    return "–" if card.photos is None else count(card.photos)


def _card_facts(card: Card) -> Mapping[str, Any]:
    return {
        "name": card.name,
        "set": card.title,
        "photos": _photos(card),
        "licence": card.licence,
        "described at": card.home,
        "had from": card.get,
        "layout": card.layout,
        "reported within, km": [threshold_text(km) for km in card.thresholds_km],
        "known faults": "\n".join(card.faults),
        "published rows": None
        if card.published_as is None
        else f"geosleuth bench published --dataset {card.published_as!r}",
        "open it with": f"--data {card.name}:PATH",
    }


def _check_view(seen: Description, root: Path) -> RenderableType:
    there = seen.photos - seen.missing
    against = {
        None: "",
        True: ", as its card says",
        False: f"; its card says {_photos(seen.card)}",
    }[seen.is_whole]
    spread = [f"{country_name(code)} {count(number)}" for code, number in seen.countries.items()]
    more = len(spread) - _COUNTRIES_SHOWN
    if more > 0:
        spread = [*spread[:_COUNTRIES_SHOWN], f"and {count(more)} more"]
    return facts_view(
        {
            "set": seen.card.title,
            "in": str(root.resolve()),
            "photos": f"{count(there)}{against}",
            "listed but missing": count(seen.missing) if seen.missing else None,
            "rows to fix": count(seen.bad) if seen.bad else None,
            "left out": count(seen.left_out) if seen.left_out else None,
            "ids that repeat": count(seen.repeated) if seen.repeated else None,
            "with boxes": count(seen.boxed) if seen.boxed else None,
            "continents": [f"{name} {count(number)}" for name, number in seen.continents.items()],
            "countries": spread,
            "fields to slice by": [printable(name) for name in seen.fields],
            "known faults": "\n".join(seen.card.faults),
            "licence": seen.card.licence,
        }
    )


def _report(seen: Description) -> None:
    _say_first("to fix", [f"{fault.where}: {fault.reason}" for fault in seen.bad_shown], seen.bad)
    _say_first("left out", [f"{fault.where}: {fault.reason}" for fault in seen.left_out_shown], seen.left_out)
    _say_first("missing", seen.missing_shown, seen.missing)


def _say_first(what: str, lines: Sequence[str], number: int) -> None:
    for line in lines[:_FAULTS_SHOWN]:
        talk(f"{what}: {printable(line)}")
    if number > _FAULTS_SHOWN:
        talk(f"{what}: and {count(number - _FAULTS_SHOWN)} more")


def find_duplicates(options: "DuplicatesOptions") -> None:
    """Fingerprint every photo, and report similar ones."""
    against, out, kept, bits = options.against, options.out, options.kept, options.bits
    check_outputs([out, kept], [options.data, *([against] if against else [])], overwrite=options.overwrite)
    if out is not None and out.suffix.lower() != ".csv":
        raise BadInput(f"{out}: pairs are written as .csv")
    data, other = with_part(open_set(options.data)), open_set(against) if against else None
    kept_so_far = "the fingerprints so far are kept; run the same command to resume"
    ours, theirs = run_until_stopped(_print_all(data, other, options.jobs or _JOBS), kept_so_far)
    pairs, groups, stays = _alike(ours, theirs, bits)
    if out is not None:
        write_text_atomically(out, _pair_rows(pairs, ours, theirs or ours))
        talk(f"wrote {out}")
    if kept is not None:
        _write_kept(kept, data, stays)
        talk(f"wrote {kept}")
    failed = ours.failed + (theirs.failed if theirs else 0)
    document = {
        "photos": len(ours.ids), "against": len(theirs.ids) if theirs else None, "pairs": len(pairs),
        "groups": groups, "doubles": stays.count(False), "not_opened": failed, "bits": bits,
    }  # fmt: skip
    rows = [(name.replace("_", " "), str(value)) for name, value in document.items() if value is not None]
    show_result(document, table_view(("what", "count"), rows), as_json=options.as_json)
    if failed:
        raise typer.Exit(EXIT_SOME_FAILED)


@dataclass(slots=True)
class _Prints:
    """Ids and prints of a set, in its order; a photo that can't be opened has none."""

    ids: list[str] = field(default_factory=list)
    prints: list[bytes] = field(default_factory=list)
    failed: int = 0


def _alike(ours: _Prints, theirs: _Prints | None, bits: int) -> tuple[list[Pair], int | None, list[bool]]:
    """Return the pairs, the number of groups within one set, and which photos stay."""
    count = len(ours.ids)
    if theirs is None:
        pairs = pairs_within(prints(ours.prints), most_bits=bits)
        groups = group_pairs(count, pairs)
        return pairs, len(groups), first_of_each(count, groups)
    pairs = pairs_across(prints(ours.prints), prints(theirs.prints), most_bits=bits)
    found = {pair.first for pair in pairs}
    return pairs, None, [number not in found for number in range(count)]


def _pair_rows(pairs: Sequence[Pair], ours: _Prints, theirs: _Prints) -> str:
    rows = ((ours.ids[pair.first], theirs.ids[pair.second], pair.bits) for pair in pairs)
    return format_rows(("id", "like", "bits"), rows)


def _write_kept(path: Path, data: DataSet, stays: Sequence[bool]) -> None:
    with writing_table(path, field_names(data)) as write:
        for stay, item in zip(stays, data, strict=True):
            if stay:
                write(item)


async def _print_all(data: DataSet, other: DataSet | None, jobs: int) -> tuple[_Prints, _Prints | None]:
    with cancel_on_ctrl_c(), open_memory() as memory:
        ours = await _compute_prints(data, memory, jobs)
        return ours, None if other is None else await _compute_prints(other, memory, jobs)


async def _compute_prints(data: DataSet, memory: Memory, jobs: int) -> _Prints:
    found = _Prints()
    with progress("taking prints", sum(1 for _ in data)) as bar:
        async with aclosing(each(data, printing(memory), at_once=jobs)) as all_seen:
            async for seen in all_seen:
                found.ids.append(seen.item.id)
                found.prints.append(seen.found or NO_FINGERPRINT)
                if seen.found is None:
                    found.failed += 1
                    if found.failed <= _TOLD_FAILURES:
                        talk(f"left out: {seen.trouble}")
                bar.advance()
    return found
