"""What ``dataset list``, ``card``, ``check`` and ``stage`` do once their words are read."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table

from geosleuth.app.atlas_views import facts_view, plain
from geosleuth.app.console import progress, show, show_json, talk
from geosleuth.bench.numbers import count
from geosleuth.bench.plain import printable
from geosleuth.bench.sets import Card, Description, Fault, cards, describe, open_set, stage
from geosleuth.errors import BadInput
from geosleuth.geo import threshold_text
from geosleuth.names import country_name

_COUNTRIES_SHOWN = 15
_FAULTS_SHOWN = 5


def show_list(*, as_json: bool) -> None:
    """Every set that has a name."""
    known, broken = cards()
    for one in broken:
        talk(f"geosleuth: {one}")
    if as_json:
        show_json([plain(card) for card in known.values()])
        return
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for column in ("name", "what it is", "photos", "licence"):
        table.add_column(column, overflow="fold", justify="right" if column == "photos" else "left")
    for card in known.values():
        table.add_row(card.name, card.title, _photos(card), card.licence)
    show(table)
    talk("point at what you have downloaded: geosleuth dataset check NAME:PATH; more: geosleuth dataset card NAME")


def show_card(name: str, *, as_json: bool) -> None:
    """What is known of one set."""
    known, _ = cards()
    card = known.get(name.strip().lower()) or known.get(name.strip())
    if card is None:
        raise BadInput(f"no data set is called {name[:40]!r}; there are {', '.join(known)}")
    if as_json:
        show_json(plain(card))
    else:
        show(facts_view(_card_facts(card)))


def check_set(spec: str, *, as_json: bool) -> bool:
    """Say what is on this disk; whether a run could go through it."""
    data = open_set(spec)
    with progress(f"looking at {data.card.name}", data.card.photos) as bar:
        seen = describe(data, bar.advance)
    if as_json:
        show_json(_check_document(seen, data.root))
    else:
        show(_check_view(seen, data.root))
        _tell(seen)
    return seen.is_usable


def stage_set(spec: str, out: Path, *, as_json: bool) -> None:
    """Copy a set so that its photos can be handed on."""
    data = open_set(spec)
    with progress(f"staging {data.card.name}", data.card.photos) as bar:
        done = stage(data, out, progress=lambda _id: bar.advance())
    for line in done.refused[:_FAULTS_SHOWN]:
        talk(f"left out: {printable(line)}")
    if len(done.refused) > _FAULTS_SHOWN:
        talk(f"and {count(len(done.refused) - _FAULTS_SHOWN)} more that can't be opened; --json names them all")
    if as_json:
        show_json(plain(done))
    else:
        show(
            facts_view(
                {
                    "photos": f"{count(done.photos)} in {done.folder}",
                    "written before": count(done.kept) if done.kept else None,
                    "left out": count(len(done.refused)) if done.refused else None,
                    "what is what": f"{done.key} (keep it apart from the photos)",
                }
            )
        )
    if not done.photos:
        raise BadInput(f"{data.root}: no photo of this set can be opened; see geosleuth dataset check {spec}")


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


def _check_document(seen: Description, root: Path) -> dict[str, Any]:
    return {**plain(seen), "root": str(root), "is_whole": seen.is_whole, "is_usable": seen.is_usable}


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
            "in": str(root),
            "photos": f"{count(there)}{against}",
            "listed but missing": count(seen.missing) if seen.missing else None,
            "rows to mend": count(seen.bad) if seen.bad else None,
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


def _tell(seen: Description) -> None:
    for what, faults, number in (
        ("to mend", seen.bad_shown, seen.bad),
        ("left out", seen.left_out_shown, seen.left_out),
    ):
        for fault in faults[:_FAULTS_SHOWN]:
            talk(f"{what}: {_fault(fault)}")
        if number > _FAULTS_SHOWN:
            talk(f"{what}: and {count(number - _FAULTS_SHOWN)} more")
    for where in seen.missing_shown[:_FAULTS_SHOWN]:
        talk(f"missing: {printable(where)}")
    if seen.missing > _FAULTS_SHOWN:
        talk(f"missing: and {count(seen.missing - _FAULTS_SHOWN)} more")


def _fault(fault: Fault) -> str:
    return f"{printable(fault.where)}: {printable(fault.reason)}"
