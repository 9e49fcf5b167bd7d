"""What a photo shows, as ten tags that are yes, no or maybe; said by a model or reckoned by a heuristic."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

from geosleuth.answer.loose_json import JsonValue
from geosleuth.clues import Clue

from .locatability import legible_letters
from .pixels import PixelFigures
from .reading import first_named

Tag = Literal["yes", "no", "maybe"]
TAGS = (
    "manmade", "traffic", "buildings", "sign", "language", "natural", "plants", "weather", "mountains_and_rivers",
    "agricultural",
)  # fmt: skip
FIELDS = tuple(f"tag_{name}" for name in TAGS)
"""The columns of a table: a set's own column may be called "natural" as well, and is something else."""

MEANINGS: Mapping[str, str] = {
    "manmade": "anything built or made by people",
    "traffic": "vehicles, road signs, markings, crossings, traffic lights",
    "buildings": "houses, shops, places of worship",
    "sign": "a shop's name, a billboard, a direction sign, with words or symbols",
    "language": "text that tells its language",
    "natural": "landscape: woods, grassland, beach, desert",
    "plants": "trees, grass, flowers",
    "weather": "what the weather is like: snow, rain, fog, a clear sky",
    "mountains_and_rivers": "mountains, hills, rivers, lakes, the sea",
    "agricultural": "fields, crops, farm machines",
}


def read_tags(said: Mapping[str, JsonValue]) -> dict[str, Tag]:
    """The tags in the object that a model wrote; a tag that is not there, or is something else, is left out."""
    nested = first_named(said, ("tags", "elements", "categories", "cls"))
    inside = nested if isinstance(nested, dict) else said
    found = {name: _tag(first_named(inside, (name, f"tag_{name}"))) for name in TAGS}
    return {name: tag for name, tag in found.items() if tag is not None}


def _tag(value: JsonValue) -> Tag | None:
    if isinstance(value, bool):
        return "yes" if value else "no"
    word = value.strip().casefold().rstrip(".") if isinstance(value, str) else ""
    tags: tuple[Tag, ...] = get_args(Tag)
    return next((tag for tag in tags if word == tag), None)


def tag_fields(tags: Mapping[str, Tag]) -> dict[str, str]:
    """As fields of a table; the empty text where nothing is known."""
    return {field: tags.get(name, "") for field, name in zip(FIELDS, TAGS, strict=True)}


# Set by looking, as in `locatability`.
_STRAIGHT, _GREEN, _SKY = 0.35, 0.15, 0.3
_OF_ROADS = frozenset({"plate", "road_number", "distance_sign", "speed"})
_OF_LANGUAGES = frozenset({"language", "script"})


def heuristic_tags(pixels: PixelFigures, lines: Sequence[tuple[str, float]], clues: Sequence[Clue]) -> dict[str, Tag]:
    """The tags by what code can see. What it can't see at all is "maybe", never "no".

    Text, and what it says, is seen; leaves and sky by their colours, buildings by their straight edges, which other
    things have too. Vehicles, mountains, water and fields are not seen.
    """
    letters, kinds = legible_letters(lines), {clue.kind for clue in clues}
    straight = pixels.straight >= _STRAIGHT
    return {
        "manmade": "yes" if letters else "maybe",
        "traffic": "yes" if kinds & _OF_ROADS else "maybe",
        "buildings": "maybe",
        "sign": "yes" if letters else "maybe" if lines else "no",
        "language": "yes" if letters and kinds & _OF_LANGUAGES else "maybe" if lines else "no",
        "natural": "maybe" if straight or pixels.green < _GREEN else "yes",
        "plants": "yes" if pixels.green >= _GREEN else "maybe",
        "weather": "yes" if pixels.sky >= _SKY else "maybe",
        "mountains_and_rivers": "maybe",
        "agricultural": "maybe",
    }
