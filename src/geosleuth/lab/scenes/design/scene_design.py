"""Compose a scene from seed and number: a spot, its light, its look, its clues, and its answer."""

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256

from geosleuth.answer import Address, Level
from geosleuth.atlas.facts import country_facts, find_climate
from geosleuth.geo import LatLon, destination
from geosleuth.lab.bench.makers.locatability import MOST
from geosleuth.lab.scenes.drawing.lettering import drawable
from geosleuth.lab.scenes.scene import (
    Board,
    Business,
    Camera,
    ClueLevel,
    Layout,
    Scene,
    SceneClue,
    SceneKind,
    SceneLook,
    Sky,
    Sort,
    Split,
    Spot,
)
from geosleuth.lab.scenes.towns import WorldTown
from geosleuth.lab.scenes.web_pages import compute_founding_year, doors_by_name
from geosleuth.lab.scenes.world import World
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput

from .appearance import choose_look, draw_layout, draw_sky
from .scene_clues import Pen, collect_unwritten_clues, misleading_clue, street_line

_FINENESS: dict[ClueLevel, int] = {"country": 0, "region": 1, "precise": 2}

_OPENINGS = ("What tells: ", "This follows from what can be seen. ", "The clues agree. ", "")
_AGAINST = (
    "{what} speaks of another country, but such things are found far from home.",
    "Against it stands {what}, which travels and is left aside.",
)
_OPEN: dict[ClueLevel, tuple[str, ...]] = {
    "country": (
        "Nothing legible names a country; light, plants and ground alone fit many.",
        "No text and no marking can be read: the country stays open.",
    ),
    "region": (
        "Nothing that can be read is finer than the country.",
        "The region stays open: no area code, postcode, distance or town can be read.",
    ),
    "precise": (
        "No street, business or town can be read, so that the spot stays open.",
        "Nothing names the town; a search would need more to go by.",
    ),
}
_LEFT: dict[ClueLevel, tuple[str, ...]] = {
    "country": ("Neighbouring countries share some of this.", "One clue alone would not be enough."),
    "region": ("The region follows from few clues; its edges are not sharp.", "Numbers can be from next door."),
    "precise": ("A shop of the same name may stand elsewhere.", "The map was taken at its word for the address."),
}
_OF_TRAFFIC = frozenset({"bus", "number_plate", "direction_sign", "road_shield", "bus_stop"})
_OF_LANGUAGE = frozenset({"business", "chain", "language", "street_name", "town_name", "bus_stop", "foreign_kitchen"})
# Share of scenes by the finest level that a legible clue reaches; None if there is no clue.
LEVEL_SHARES: Mapping[ClueLevel | None, float] = {"precise": 0.40, "region": 0.30, "country": 0.20, None: 0.10}
SMALL_SHARE = 0.20
MISLEADING_SHARE = 0.20
HIDDEN_SHARE = 0.15
# Share of scenes without any text, among those that show the country at best.
TEXTLESS_SHARE = 0.15
# Share of street scenes and panoramas that only a page decides, in a world with pages.
PAGE_SHARE = 0.25
# Share of scenes set in their real towns, in a world with added regions.
REAL_SHARE = 0.25
MIXED_KINDS: Mapping[SceneKind, float] = {"street": 0.88, "panorama": 0.12}
SIZE, SMALL_SIZE, PANORAMA_SIZE = (1024, 768), (3264, 2448), (4096, 2048)
_FROM_DOOR_KM = (0.007, 0.013)
_USUAL: tuple[Sort, ...] = (
    "business", "street_name", "house_number", "bus_stop", "phone", "language", "number_plate", "driving_side",
)  # fmt: skip
_LAYOUTS_OF_NOTHING: tuple[Layout, ...] = ("country_road", "country_road", "suburb", "industrial")
_MAX_CLUES_WRITTEN, _MAX_CLUES_UNWRITTEN = 6, 4
_TRIES = 4


def build_truth(scene: Scene) -> Truth:
    """Return where the scene really is."""
    spot = scene.spot
    return Truth(spot.point, spot.country, spot.region, spot.town)


def build_address(scene: Scene) -> Address:
    """Return what a reader of every legible clue could rightly say; a level without clues stays open.

    The wording varies with the scene's seed.
    """
    chance = random.Random(f"telling {scene.seed}")  # noqa: S311 - no secret depends on it
    honest = [clue for clue in scene.clues if not clue.misleading and clue.visibility != "hidden"]
    foreign = [clue for clue in scene.clues if clue.misleading]
    finest = -1 if scene.finest is None else _FINENESS[scene.finest]
    written = any(clue.country for clue in honest)
    return Address(
        _level(scene.spot.country_name if written else None, "country", honest, foreign, chance),
        _level(scene.spot.region if finest >= 1 else None, "region", honest, (), chance),
        _level(_precise_name(scene) if finest >= 2 else None, "precise", honest, (), chance),
    )


def _precise_name(scene: Scene) -> str:
    """Return the finest named place that the legible clues determine together."""
    sorts = {clue.sort for clue in scene.clues if not clue.misleading and clue.visibility != "hidden"}
    door, town = scene.business, scene.spot.town
    if door is None or not sorts & {"business", "chain"}:
        return town
    street = street_line(scene.spot.country, door)
    return ", ".join(part for part in (door.name, street if "street_name" in sorts else None, town) if part)


def _level(
    name: str | None,
    level: ClueLevel,
    honest: Sequence[SceneClue],
    foreign: Sequence[SceneClue],
    chance: random.Random,
) -> Level:
    own = [clue for clue in honest if clue.level == level]
    if level == "country" and name is not None:
        own = [clue for clue in honest if clue.level == "country"] or list(honest)
    own = own or [clue for clue in honest if _FINENESS[clue.level] > _FINENESS[level]]
    if name is None:
        weak = [clue for clue in own if clue.board is None] if level == "country" else []
        reasoning = " ".join(clue.says for clue in weak) or None
        return Level(None, tuple(_short(clue) for clue in weak), reasoning, chance.choice(_OPEN[level]))
    statements = " ".join(clue.says for clue in own)
    against = " ".join(chance.choice(_AGAINST).format(what=_short(clue)) for clue in foreign)
    reasoning = f"{chance.choice(_OPENINGS)}{statements} {against}".strip()
    sure = any(clue.level == "precise" and clue.sort != "chain" for clue in honest) and level != "precise"
    return Level(name, tuple(map(_short, own)), reasoning, None if sure else chance.choice(_LEFT[level]))


def _short(clue: SceneClue) -> str:
    """Return a clue in a few words: its text, or what is seen."""
    return f"{clue.sort.replace('_', ' ')}: {' / '.join(clue.lines)}" if clue.lines else clue.says


def compute_locatability(scene: Scene) -> float:
    """Return the locatability from 0 to 10, by what is legible.

    10 a business, street or town that can be read; 8.5 a number, postcode or distances of the region; 8 a branch of a
    chain; 7.5 language, money, plates; a point less for what must be zoomed into. 6 a street without a word, 3 to 4.5
    one without clues, 5.5 where something hidden might be made out. What misleads, blur and fog take half a point
    each.
    """
    legible = [clue for clue in scene.clues if clue.visibility != "hidden" and not clue.misleading]
    score = max(map(_worth, legible), default=_worth_of_nothing(scene))
    if not any(clue.lines for clue in legible) and any(clue.lines for clue in scene.clues):
        score = max(score, 5.5)
    takes = (
        any(clue.misleading for clue in scene.clues),
        scene.camera.blur_px > 0,
        scene.sky.weather == "fog",
    )
    return round(min(MOST, max(0.0, score - 0.5 * sum(takes))), 1)


def _worth(clue: SceneClue) -> float:
    worth = {"precise": 10.0, "region": 8.5, "country": 7.5}[clue.level]
    if clue.board is None:
        return 6.0
    if clue.sort == "chain":
        worth = 8.0
    return worth - (1.0 if clue.visibility == "small" else 0.0)


def _worth_of_nothing(scene: Scene) -> float:
    return 4.5 if scene.look.layout == "country_road" else 4.0 if scene.look.layout == "suburb" else 3.0


def build_tags(scene: Scene) -> dict[str, str]:
    """Return ten element tags, each yes, no or maybe."""
    look, sky = scene.look, scene.sky
    written = [clue for clue in scene.clues if clue.lines]
    legible = [clue for clue in written if clue.visibility != "hidden"]
    built = look.layout != "country_road"
    boards = {clue.board for clue in legible}
    return {
        "manmade": "yes",
        "traffic": "yes" if boards & _OF_TRAFFIC or look.centre_line != "none" else "maybe",
        "buildings": "yes" if built else "maybe",
        "sign": "yes" if legible else "maybe" if written else "no",
        "language": "yes" if any(clue.sort in _OF_LANGUAGE for clue in legible) else "maybe" if written else "no",
        "natural": "no" if built and look.ground == "paved" else "maybe" if built else "yes",
        "plants": "no" if look.plant == "none" else "yes",
        "weather": "yes" if sky.weather != "overcast" else "maybe",
        "mountains_and_rivers": "no" if look.terrain == "flat" else "yes",
        "agricultural": "maybe" if look.layout == "country_road" else "no",
    }


@dataclass(frozen=True, slots=True)
class Wants:
    """Requirements of a caller; None leaves a choice to chance.

    ``level`` is the finest that legible clues shall reach, ``nothing`` that there are none. ``small`` puts what
    tells most too small for a first view. ``chain`` asks for a business whose name stands in several towns, or for one
    that stands once. ``country`` is an ISO code. ``kind`` goes before the argument of
    the same name. ``page`` asks for a scene that only a page of the made-up web decides, in a world that has pages.
    """

    level: ClueLevel | None = None
    nothing: bool | None = None
    small: bool | None = None
    misleading: bool | None = None
    hidden: bool | None = None
    chain: bool | None = None
    kind: SceneKind | None = None
    country: str | None = None
    page: bool | None = None

    def __post_init__(self) -> None:
        """Refuse what contradicts itself."""
        if self.page and (self.nothing or self.level not in (None, "precise")):
            raise BadInput("a scene that a page decides shows the name of a shop; ask for no other level")
        if self.nothing and (self.level or self.small):
            raise BadInput("a scene without clues has no level and no small text; ask for one of them")


@dataclass(frozen=True, slots=True)
class ScenePlan:
    """Complete plan of one scene, with every choice made."""

    kind: SceneKind
    level: ClueLevel | None
    small: bool
    misleading: bool
    hidden: bool
    looks_only: bool
    chain: bool | None
    page: bool = False


def make_plan(kind: SceneKind, wants: Wants, chance: random.Random) -> ScenePlan:
    """Decide what is left open. Every share is drawn every time, so that one request changes nothing else."""
    kind = wants.kind or kind
    (level,) = chance.choices(list(LEVEL_SHARES), list(LEVEL_SHARES.values()))
    # One scene in ten has nothing that could be small: the others make up for it.
    small = chance.random() < SMALL_SHARE / (1 - LEVEL_SHARES[None])
    misleading, hidden = chance.random() < MISLEADING_SHARE, chance.random() < HIDDEN_SHARE
    looks_only = chance.random() < TEXTLESS_SHARE
    if wants.level is not None:
        level = wants.level
    elif wants.nothing:
        level = None
    elif level is None and (wants.nothing is False or wants.small or wants.chain is not None):
        level = "precise"
    if wants.chain is not None and wants.level is None:
        level = "precise"
    small = (small if wants.small is None else wants.small) and level is not None
    misleading = misleading if wants.misleading is None else wants.misleading
    hidden = hidden if wants.hidden is None else wants.hidden
    looks_only = looks_only and level == "country" and not small
    return ScenePlan(kind, level, small, misleading, hidden, looks_only, wants.chain)


def design_scene(
    world: World, seed: int, number: int, *, split: Split, kind: SceneKind = "street", wants: Wants | None = None
) -> Scene:
    """Return one scene; the same world, seed, number, split, kind and wants give the same scene on every machine.

    Raises:
        BadInput: the world has no such town in this split, or the wants contradict the kind.
    """
    wants = wants or Wants()
    name = f"{split}-{seed}-{number:06}"
    chance = random.Random(f"scene {world.seed} {name} {kind}")  # noqa: S311 - no secret depends on it
    plan = _with_page(make_plan(kind, wants, chance), wants, world, name)
    town = _town(world, split, wants, chance)
    if wants.misleading and not _abroad(world, split, town):
        raise BadInput(f"the {split} split of this world has towns of one country alone: nothing there can mislead")
    doors = doors_told_by_pages(world, town) if plan.page else []
    plan = replace(plan, page=bool(doors))
    door = _door(doors or world.businesses(town), plan, chance) if plan.level == "precise" else None
    layout = _layout(plan, chance)
    spot, heading = _stand(world, town, door, chance)
    sky = draw_sky(spot.point, spot.climate, chance)
    look = choose_look(spot, sky, layout, chance)
    if plan.level is None:
        look = _bare(look)
    pen = Pen(spot, town, split, chance)
    clues = _number_clues(_clues(world, pen, plan, door, look, sky))
    scene = Scene(
        id=name, seed=int.from_bytes(sha256(f"draw {world.seed} {name} {plan.kind}".encode()).digest()[:6], "big"),
        kind=plan.kind, split=split, size=_size(plan), spot=spot, look=look, sky=sky,
        camera=_camera(plan, heading, chance), clues=clues,
        business=door,
        missing=tuple(sort for sort in _USUAL if all(clue.sort != sort for clue in clues)),
    )  # fmt: skip
    return replace(scene, locatability=compute_locatability(scene), tags=build_tags(scene))


def _with_page(plan: ScenePlan, wants: Wants, world: World, name: str) -> ScenePlan:
    """Decide whether a page shall be needed, by a draw of its own: the world's other scenes stay as they are.

    Raises:
        BadInput: a page is wanted and the world has none.
    """
    if wants.page and not world.pages:
        raise BadInput("this world has no pages; open it with pages")
    drawn = random.Random(f"page {world.seed} {name}").random() < PAGE_SHARE  # noqa: S311 - no secret depends on it
    can = world.pages and not wants.nothing and wants.level in (None, "precise")
    if not (can and (drawn if wants.page is None else wants.page)):
        return plan
    return replace(plan, level="precise", hidden=False, looks_only=False, page=True)


def doors_told_by_pages(world: World, town: WorldTown) -> list[Business]:
    """Return the businesses of a town that share their name with others in the country, and their year with none."""
    if town.real:
        return []
    by_name, found = doors_by_name(world, town.country), []
    for business in world.businesses(town):
        others = [door for door in by_name[business.name] if door.business.id != business.id]
        elsewhere = any(door.town != town for door in others)
        if elsewhere and all(
            compute_founding_year(door.business) != compute_founding_year(business) for door in others
        ):
            found.append(business)
    return found


@lru_cache(maxsize=64)
def _find_split_towns(world: World, split: Split, country: str | None) -> tuple[WorldTown, ...]:
    return tuple(town for town in world.towns if town.split == split and country in (None, town.country))


@lru_cache(maxsize=64)
def _list_split_countries(world: World, split: Split) -> tuple[str, ...]:
    return tuple(sorted({town.country for town in _find_split_towns(world, split, None)}))


def _town(world: World, split: Split, wants: Wants, chance: random.Random) -> WorldTown:
    """Return a town: every second one of any country alike, the others as many as the world has of each.

    Where there are real towns of added regions, a stated share of scenes stands in those.
    """
    real = tuple(town for town in _find_split_towns(world, split, wants.country) if town.real)
    if real and chance.random() < REAL_SHARE:
        return chance.choice(real)
    countries = _list_split_countries(world, split)
    drawn = chance.choice(countries) if chance.random() < 0.5 and countries else None
    towns = _find_split_towns(world, split, wants.country or drawn)
    if not towns:
        raise BadInput(
            f"the world has no town of {wants.country or 'any country'} in the {split} split; want another one"
        )
    return chance.choice(towns)


def _door(known: Sequence[Business], plan: ScenePlan, chance: random.Random) -> Business:
    """Return a business of the town; of a chain, or of none, if the plan requires it."""
    fit = [item for item in known if (plan.chain is None or item.chain == plan.chain) and _can_be_written(item)]
    return chance.choice(fit or known)


def _can_be_written(business: Business) -> bool:
    return not business.real or all(drawable(text) for text in (business.name, business.street) if text)


def _layout(plan: ScenePlan, chance: random.Random) -> Layout:
    if plan.level is None:
        return chance.choice(_LAYOUTS_OF_NOTHING)
    layout = draw_layout(chance)
    return "high_street" if layout == "country_road" and plan.level == "precise" else layout


def _stand(world: World, town: WorldTown, door: Business | None, chance: random.Random) -> tuple[Spot, float]:
    """Return a spot near a door or on a street, and the direction of the street."""
    streets = world.streets(town)
    # The streets of an added region are those of all its towns: there one stands at some door of the right one.
    near = door or (chance.choice(world.businesses(town)) if town.real else None)
    if near is not None:
        street = next((item for item in streets if item.name == near.street), None)
        front = near.point
    else:
        street = chance.choice(streets)
        front = _along(street.line, chance)
    along = street.heading_deg(front) if street else chance.uniform(0, 360)
    heading = round(along + chance.choice((0.0, 180.0)), 1) % 360
    away = destination(front, (heading + 180 + chance.uniform(-25, 25)) % 360, chance.uniform(*_FROM_DOOR_KM))
    point = LatLon(round(away.lat, 6), round(away.lon, 6))
    facts = country_facts(town.country)
    climate = find_climate(point) or find_climate(town.point)
    spot = Spot(
        point=point, country=town.country, country_name=facts.name, region=town.region, town=town.name,
        town_on_signs=town.name_on_signs, population=town.population, climate=climate.code if climate else "Cfb",
        cell=town.cell, split=town.split,
    )  # fmt: skip
    return spot, heading


def _along(line: Sequence[LatLon], chance: random.Random) -> LatLon:
    """Return a random point on a line."""
    first = chance.randrange(len(line) - 1)
    here, there, share = line[first], line[first + 1], chance.random()
    return LatLon(here.lat + share * (there.lat - here.lat), here.lon + share * (there.lon - here.lon))


def _bare(look: SceneLook) -> SceneLook:
    """Return the look with a road that is no clue to the country."""
    return replace(look, centre_line="none", centre_double=False, edge_line="none", poles="none", wires=False)


def _size(plan: ScenePlan) -> tuple[int, int]:
    return PANORAMA_SIZE if plan.kind == "panorama" else SMALL_SIZE if plan.small else SIZE


def _camera(plan: ScenePlan, heading: float, chance: random.Random) -> Camera:
    """Return the camera of a pedestrian or a car, sometimes slightly blurred; for panoramas one of several views."""
    on_car = chance.random() < 0.4
    height = round(chance.uniform(2.2, 2.7) if on_car else chance.uniform(1.45, 1.75), 2)
    field = 90.0 if plan.kind == "panorama" else round(chance.uniform(62, 82), 1)
    blur = round(chance.uniform(0.5, 1.1), 2) if chance.random() < 0.12 and not plan.small else 0.0
    return Camera(heading, height, field, blur, round(chance.uniform(0, 3.5), 2))


def _clues(
    world: World, pen: Pen, plan: ScenePlan, door: Business | None, look: SceneLook, sky: Sky
) -> list[SceneClue]:
    chance = pen.chance
    written: list[SceneClue] = []
    if plan.level is not None and not plan.looks_only:
        write = _collect_page_clues if plan.page else _precise
        written = write(world, pen, door) if door is not None else _WRITERS[plan.level](world, pen)
        if plan.small:
            written = [_small(clue, plan, chance) for clue in written]
    if plan.hidden:
        written = _with_hidden(written, pen)
    if plan.misleading and _abroad(world, pen.split, pen.town):
        written.append(_misleading(world, pen, {clue.board for clue in written} - {"shop_front"}))
    unwritten = list(collect_unwritten_clues(pen.spot, look, sky)) if plan.level is not None else []
    if len(unwritten) > _MAX_CLUES_UNWRITTEN:
        unwritten = [unwritten[at] for at in sorted(chance.sample(range(len(unwritten)), _MAX_CLUES_UNWRITTEN))]
    return [*written, *unwritten]


def _precise(world: World, pen: Pen, door: Business) -> list[SceneClue]:
    """Return a door on the map, with enough clues to single it out among its namesakes."""
    chance = pen.chance
    # Drawn beforehand, so that worlds which differ in names alone have the same scenes otherwise.
    street, number, fixing, phone, stop, beside = (chance.random() for _ in range(6))
    repeats = door.chain or door.homonym
    found: list[SceneClue | None] = [pen.business(door)]
    if door.street and (repeats or street < 0.6):
        found.append(pen.street_name(door.street))
    if number < 0.4:
        found.append(pen.house_number(door))
    if repeats or fixing < 0.3:
        found.append((pen.phone(door) or pen.address(door), pen.address(door), pen.town_name())[int(fixing * 10) % 3])
    elif phone < 0.3:
        found.append(pen.phone(door))
    if door.bus_stop and stop < 0.3:
        found.append(pen.bus_stop(door.bus_stop))
    if door.street and beside < 0.4:
        others = [
            business
            for business in world.businesses(pen.town)
            if business.street == door.street and business.id != door.id
        ]
        found += [pen.business(item) for item in chance.sample(others, min(len(others), 1 + (beside < 0.15)))]
    found += _some(chance, (pen.plate, pen.price, pen.road), 0.25)
    kept = _one_each(found)[:_MAX_CLUES_WRITTEN]
    return kept if any(clue.level == "precise" for clue in kept) else [*kept, pen.town_name()]


def _collect_page_clues(_world: World, pen: Pen, door: Business) -> list[SceneClue]:
    """Return a door whose name occurs in several towns, the founding year on its pages, and clues to the country."""
    makers = [pen.plate, pen.price, pen.road]
    pen.chance.shuffle(makers)
    made = [clue for make in makers if (clue := make()) is not None and clue.level == "country"]
    return _one_each(
        [pen.business(door), pen.write_founding_year(compute_founding_year(door)), *made[: pen.chance.choice((1, 2))]]
    )


def _region(world: World, pen: Pen) -> list[SceneClue]:
    """Return an area code, a postcode or a distance sign, among clues to the country."""
    chance = pen.chance
    makers: list[Callable[[], SceneClue | None]] = [
        lambda: pen.distances(_find_split_towns(world, pen.town.split, pen.town.country) or world.towns),
        pen.area_code,
        lambda: pen.postcode(world.seed),
        pen.plate,
    ]
    chance.shuffle(makers)
    made = (make() for make in makers)
    main = next((clue for clue in made if clue is not None and clue.level == "region"), None)
    if main is None:
        main = pen.distances(world.towns) or pen.region_name() or pen.town_name()
    return _one_each([main, pen.language(), *_some(chance, (pen.price, pen.web_address, pen.plate, pen.road), 0.35)])


def _collect_country_clues(_world: World, pen: Pen) -> list[SceneClue]:
    """Return two or three of: language, money, plates, web addresses, a national chain."""
    makers = [pen.price, pen.web_address, pen.plate, pen.road, pen.brand]
    pen.chance.shuffle(makers)
    made = [clue for make in makers if (clue := make()) is not None and clue.level == "country"]
    count = pen.chance.choice((1, 2, 2))
    return _one_each([pen.language(), *made[:count]])


_WRITERS: dict[ClueLevel, Callable[[World, Pen], list[SceneClue]]] = {
    "region": _region,
    "country": _collect_country_clues,
}


def _some(
    chance: random.Random, makers: Sequence[Callable[[], SceneClue | None]], share: float
) -> list[SceneClue | None]:
    return [make() if chance.random() < share else None for make in makers]


def _one_each(found: Sequence[SceneClue | None]) -> list[SceneClue]:
    """Return one clue per board; several shops may stand side by side."""
    kept: list[SceneClue] = []
    for clue in found:
        if clue is not None and (clue.board == "shop_front" or all(item.board != clue.board for item in kept)):
            kept.append(clue)
    return kept


def _small(clue: SceneClue, plan: ScenePlan, chance: random.Random) -> SceneClue:
    """Make a clue small: always the most precise ones, and half of the rest."""
    coarsest = clue.level == "country" and plan.level != "country"
    return clue if coarsest and chance.random() < 0.5 else replace(clue, visibility="small")


def _with_hidden(written: list[SceneClue], pen: Pen) -> list[SceneClue]:
    """Return the clues with a partly covered one added."""
    boards = {clue.board for clue in written}
    makers = (pen.town_name, pen.plate, pen.road, pen.web_address, pen.brand)
    made = [clue for make in makers if (clue := make()) is not None and clue.board not in boards]
    return [*written, replace(pen.chance.choice(made), visibility="hidden")] if made else written


def _misleading(world: World, pen: Pen, taken: Collection[Board | None]) -> SceneClue:
    """Return a misleading clue from elsewhere, on a free board if there is one."""
    tries = [_from_elsewhere(world, pen, _elsewhere(world, pen)) for _ in range(_TRIES)]
    return next((clue for clue in tries if clue.board not in taken), tries[0])


def _from_elsewhere(world: World, pen: Pen, town: WorldTown) -> SceneClue:
    return misleading_clue(pen, town, lambda: pen.chance.choice(world.streets(town)).name)


def _elsewhere(world: World, pen: Pen) -> WorldTown:
    """Return a town of another country in the same split."""
    return pen.chance.choice(
        _find_split_towns(world, pen.split, pen.chance.choice(_abroad(world, pen.split, pen.town)))
    )


def _abroad(world: World, split: Split, town: WorldTown) -> list[str]:
    """Return the other countries of a split; none if the world has one country only."""
    return [code for code in _list_split_countries(world, split) if code != town.country]


def _number_clues(clues: Sequence[SceneClue]) -> tuple[SceneClue, ...]:
    return tuple(replace(clue, id=f"c{number}") for number, clue in enumerate(clues, 1))
