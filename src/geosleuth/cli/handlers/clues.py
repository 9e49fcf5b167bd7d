"""Implementation of the ``clues`` commands; imported on demand."""

from collections.abc import Mapping, Sequence

from geosleuth.evidence.guide import field_guide, format_sighting, look_alike, place_code, weigh_sightings
from geosleuth.evidence.guide import tell_apart as differences
from geosleuth.names import country_name
from geosleuth.support.console import show, show_json, table_view, talk

_SHOWN = 10
_SHOWN_REGIONS = 5
_MIN_SHARE = 0.005


def weigh(sightings: Sequence[str], *, within: Sequence[str] = (), as_json: bool) -> None:
    """Odds over countries, and what moved them."""
    weighed = weigh_sightings(sightings, within=[place_code(name) for name in within])
    if as_json:
        show_json({
            "sightings": [
                {
                    "attribute": one.attribute, "values": list(one.values), "confidence": one.confidence,
                    "words": one.words, "moved": {move.place: move.factor for move in moves},
                }
                for one, moves in zip(weighed.sightings, weighed.moves, strict=True)
            ],
            "not_understood": list(weighed.not_understood),
            "countries": dict(weighed.countries),
            "regions": {code: dict(found) for code, found in weighed.regions.items()},
        })  # fmt: skip
        return
    for words in weighed.not_understood:
        talk(f"not in the field guide: {words}")
    if not weighed.sightings:
        talk("Nothing was understood. `geosleuth clues guide` lists what the field guide knows.")
        return
    tables = field_guide()
    show(table_view(("country", "probability", "regions"), [
        (country_name(code), f"{share:.0%}", _format_shares(weighed.regions.get(code, {})))
        for code, share in list(weighed.countries.items())[:_SHOWN]
        if share >= _MIN_SHARE
    ], unbroken=("country",)))  # fmt: skip
    show(table_view(("seen", "moved"), [
        (
            format_sighting(tables, one),
            ", ".join(f"{country_name(move.place)} {move.factor:.2g} times as likely" for move in moves) or "nothing",
        )
        for one, moves in zip(weighed.sightings, weighed.moves, strict=True)
    ]))  # fmt: skip


def tell_apart(candidates: Sequence[str], *, as_json: bool) -> None:
    """Print what to look for next to tell candidates apart."""
    tables = field_guide()
    asked = [place_code(candidate) for candidate in candidates]
    found = differences(asked)
    codes = list(dict.fromkeys(map(tables.resolve_code, asked)))
    if note := tables.stand_ins(asked):
        talk(note)
    if as_json:
        show_json([{"attribute": item.attribute, "bits": item.bits, "values": dict(item.values)} for item in found])
        return
    if not found:
        talk("The field guide has nothing that tells these apart: they look alike.")
        return
    if look_alike(found):
        talk("Their streets look much alike: what follows tells little.")
    rows = []
    for item in found:
        labels = tables.values[item.attribute]
        each = [", ".join(labels[value].label for value in item.values.get(code, ())) or "?" for code in codes]
        rows.append((tables.attributes[item.attribute].label, *each))
    show(table_view(("look at", *codes), rows, unbroken=("look at",)))


def guide(about: str, *, as_json: bool) -> None:
    """All attributes, one of them, or a place."""
    tables = field_guide()
    name = tables.attribute_called(about)
    if not about.strip():
        rows: Mapping[str, Mapping[str, str]] = {
            key: {value.name: value.label for value in tables.values[key].values()} for key in tables.attributes
        }
    elif name is not None:
        rows = tables.of_attribute(name)
    else:
        code = place_code(about)
        rows = tables.of_place(tables.resolve_code(code))
        if note := tables.stand_ins([code]):
            talk(note)
    if as_json:
        show_json({key: dict(row) for key, row in rows.items()})
        return
    if about.strip():
        words = [(key, ", ".join(f"{what} ({grade})" for what, grade in row.items())) for key, row in rows.items()]
    else:
        words = [(key, ", ".join(row)) for key, row in rows.items()]
    head = about.strip() or "attribute"
    show(table_view((head, "values"), words, unbroken=(head,)))
    if not about.strip():
        show(", ".join(f"{count:,} {what}" for what, count in tables.counts().items()))


def _format_shares(shares: Mapping[str, float]) -> str:
    return ", ".join(f"{place} {share:.0%}" for place, share in list(shares.items())[:_SHOWN_REGIONS])
