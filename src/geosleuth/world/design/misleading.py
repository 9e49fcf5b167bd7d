"""What speaks of somewhere else: airlines, chains and products from abroad, foreign kitchens, tour buses."""

from geosleuth.atlas.facts import country_facts, phone
from geosleuth.world.lands import COACHES, CUES, NAMED_AFTER_TOWNS, Cue
from geosleuth.world.model import Board, Business, Clue, ClueLevel, Sort
from geosleuth.world.towns import WorldTown

from .writing import Pen, half_of

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


def misleading_clue(pen: Pen, town: WorldTown, door: Business | None) -> Clue:
    """Something from another country.

    Args:
        pen: writes for the scene's spot.
        town: where a tour bus may come from.
        door: a business there, whose telephone and street the bus has; None makes a plain bus.
    """
    chance = pen.chance
    if chance.random() < _BUS_SHARE:
        return _tour_bus(pen, town, door)
    kinds = [*half_of(CUES, pen.split), *half_of(NAMED_AFTER_TOWNS, pen.split)]
    cue: Cue = chance.choice([cue for cue in kinds if cue.country != pen.spot.country])
    sort, boards = _SORTS[cue.sort]
    text = " / ".join(cue.lines)
    says = f"{text} {_WHAT[sort]}: it points to {country_facts(cue.country).name}, where the scene is not."
    clue = pen.clue(sort, "country", says, chance.choice(boards), *cue.lines)
    return _elsewhere(clue, cue.country)


def _tour_bus(pen: Pen, town: WorldTown, door: Business | None) -> Clue:
    name = town.name_on_signs
    title = f"{name} {COACHES[town.country]}" if town.country in COACHES else f"{town.name} Tours"
    lines = [title]
    level: ClueLevel = "region"
    if door is not None and pen.chance.random() < _RICH_SHARE:
        lines.append(", ".join(part for part in (door.street, f"{door.postcode or ''} {name}".strip()) if part))
        level = "precise"
    if door is not None and door.phone:
        lines.append(phone(door.phone, town.country).international or door.phone)
    country = country_facts(town.country).name
    says = f"The bus is from {town.name} in {country}: tour buses travel, and this one is far from home."
    clue = pen.clue("tour_bus", level, says, "bus", *lines)
    return _elsewhere(clue, town.country, town.region, town.name if level == "precise" else None)


def _elsewhere(clue: Clue, country: str, region: str | None = None, place: str | None = None) -> Clue:
    return Clue(
        id="", sort=clue.sort, level=clue.level, says=clue.says, board=clue.board, lines=clue.lines, misleading=True,
        country=country, region=region, place=place, design=clue.design,
    )  # fmt: skip
