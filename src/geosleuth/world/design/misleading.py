"""What speaks of somewhere else: airlines, chains and products from abroad, foreign kitchens, tour buses."""

from collections.abc import Callable

from geosleuth.atlas.facts import country_facts, phone
from geosleuth.world.lands import COACHES, CUES, NAMED_AFTER_TOWNS, Cue
from geosleuth.world.model import Board, Clue, ClueLevel, Sort
from geosleuth.world.towns import WorldTown

from .areas import number_of_area
from .writing import POSTCODE_LAST, Pen, half_of, within_sentence

_SORTS: dict[str, tuple[Sort, tuple[Board, ...]]] = {
    "airline": ("airline", ("billboard", "poster")),
    "foreign chain": ("foreign_chain", ("shop_front",)),
    "imported product": ("imported_product", ("poster", "banner")),
    "foreign kitchen": ("foreign_kitchen", ("shop_front",)),
    "shop called after a town": ("foreign_kitchen", ("shop_front",)),
}
_WHAT: dict[Sort, str] = {
    "airline": "advertises an airline, which flies from home to many countries",
    "foreign_chain": "is a chain that has shops in other countries, too",
    "imported_product": "advertises something that is sold all over the world",
    "foreign_kitchen": "is a restaurant or shop called after another country",
}
_BUS_SHARE = 0.35
_RICH_SHARE = 0.6
"""Of tour buses: those that carry the address and number of their firm."""


def misleading_clue(pen: Pen, town: WorldTown, street: Callable[[], str]) -> Clue:
    """Something from another country.

    Args:
        pen: writes for the scene's spot.
        town: where a tour bus may come from.
        street: gives the name of a street there.
    """
    chance = pen.chance
    if chance.random() < _BUS_SHARE:
        return _tour_bus(pen, town, street)
    kinds = [*half_of(CUES, pen.split), *half_of(NAMED_AFTER_TOWNS, pen.split)]
    cue: Cue = chance.choice([cue for cue in kinds if cue.country != pen.spot.country])
    sort, boards = _SORTS[cue.sort]
    text = " / ".join(cue.lines)
    there = within_sentence(country_facts(cue.country).name)
    says = f"{text} {_WHAT[sort]}: it points to {there}, where the scene is not."
    clue = pen.clue(sort, "country", says, chance.choice(boards), *cue.lines)
    return _elsewhere(clue, cue.country)


def _tour_bus(pen: Pen, town: WorldTown, street: Callable[[], str]) -> Clue:
    name = town.name_on_signs
    title = f"{name} {COACHES[town.country]}" if town.country in COACHES else f"{town.name} Tours"
    lines = [title]
    level: ClueLevel = "region"
    if pen.chance.random() < _RICH_SHARE:
        place = f"{name} {town.postcode}" if town.country in POSTCODE_LAST else f"{town.postcode} {name}"
        lines.append(f"{street()}, {place.strip()}")
        level = "precise"
    number = number_of_area(town, pen.chance)
    if number:
        lines.append(phone(number, town.country).international or number)
    country = within_sentence(country_facts(town.country).name)
    says = f"The bus is from {town.name} in {country}: tour buses travel, and this one is far from home."
    clue = pen.clue("tour_bus", level, says, "bus", *lines)
    return _elsewhere(clue, town.country, town.region, town.name if level == "precise" else None)


def _elsewhere(clue: Clue, country: str, region: str | None = None, place: str | None = None) -> Clue:
    return Clue(
        id="", sort=clue.sort, level=clue.level, says=clue.says, board=clue.board, lines=clue.lines, misleading=True,
        country=country, region=region, place=place, design=clue.design,
    )  # fmt: skip
