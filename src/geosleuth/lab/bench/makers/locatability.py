"""How easily a photo can be located and what it shows: by a model or by simple image statistics.

The scale, as GeoSeek uses it: 10 a landmark or a legible sign; 8 to 9 part of a landmark, text that can be made out;
6 to 7 ordinary streets, number plates; 4 to 5 mostly nature; 1 to 3 indoors or abstract; 0 nothing at all.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from math import log2
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np
import numpy.typing as npt

from geosleuth.answer.parse import JsonValue, find_objects
from geosleuth.evidence import Clue, Lookup, country_prior
from geosleuth.geo import FloatArray
from geosleuth.names import fold

if TYPE_CHECKING:
    from PIL.Image import Image

SIDE_PX = 512
_EDGE = 0.06
_AXIS_DEG = 8.0
_SHARP_EDGE = 0.35
_SKY_ROWS = 0.4

_NOT_LETTERS = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"\s*(\d{1,3}(?:[.,]\d+)?)\s*(?:/\s*10|points?|pts)?\s*")
MOST = 10.0
SUB_SCORES = ("clarity", "text", "cultural", "natural", "vehicles_and_pedestrians")
SCALE = """10: a landmark, or a sign, house number or shop name that can be read.
8 to 9: part of a landmark, a skyline, or text that can just be made out.
6 to 7: ordinary streets and buildings, number plates, text that is not clear.
4 to 5: mostly nature, or buildings without features.
1 to 3: indoors, abstract, a plain background.
0: nothing that tells any place, or a damaged picture."""
"""The scale, as worded for a model."""
FIELDS = ("locatability", *SUB_SCORES)
# Models repeat the names that they were given, and sometimes those of the paper.
_SCORE = ("locatability", "locatability_score", "score", "overall")
_SUBS: Mapping[str, tuple[str, ...]] = {
    "clarity": ("clarity", "image_clarity"),
    "text": ("text", "amount_of_text_in_image", "amount_of_text"),
    "cultural": ("cultural", "cultural_landscape", "distinctiveness_of_cultural_landscape"),
    "natural": ("natural_landscape", "natural", "distinctiveness_of_natural_landscape"),
    "vehicles_and_pedestrians": (
        "vehicles_and_pedestrians", "vehicle_and_pedestrian_information", "vehicles_pedestrians",
    ),
}  # fmt: skip
# Without a model. Thresholds are round numbers that were set by looking at drawn scenes and plain pictures; nothing was
# fitted, because there is no set of rated photos to fit on.
_FULL_TEXT_LETTERS = 60
_LEGIBLE, _MADE_OUT = 0.85, 0.6
_LEAST_LETTERS = 3
_NAMED_BITS = 5.0
_SOME_BITS = 1.5
_WORTH_ASKING = 0.45
_PLAIN_DETAIL, _PLAIN_CONTRAST, _POOR_DETAIL = 0.004, 0.05, 0.03
_STRAIGHT = 0.35
_GREEN_OR_SKY = 0.35
Tag = Literal["yes", "no", "maybe"]
TAGS = (
    "manmade", "traffic", "buildings", "sign", "language", "natural", "plants", "weather", "mountains_and_rivers",
    "agricultural",
)  # fmt: skip
TAG_FIELDS = tuple(f"tag_{name}" for name in TAGS)
"""The columns of a table: a set's own column may also be called "natural", and means something else."""
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
# Set by eye, as in `locatability`.
_TAG_STRAIGHT, _GREEN, _SKY = 0.35, 0.15, 0.3
_OF_ROADS = frozenset({"plate", "road_number", "distance_sign", "speed"})
_OF_LANGUAGES = frozenset({"language", "script"})
_NO_SIGHTS = frozenset({"airport", "port", "station"})
_NONE = frozenset({"", "none", "null", "no", "n/a", "na", "false", "unknown", "nothing"})
_LANDMARKS_LEAST_LETTERS = 5
_LONGEST = 120


@dataclass(frozen=True, slots=True)
class PixelFigures:
    """Shares from 0 to 1.

    Attributes:
        contrast: twice the standard deviation of the brightness.
        sharp: how steep the steepest edges are, relative to black beside white.
        detail: the share of pixels that lie on an edge.
        straight: of those, the excess share of vertical and horizontal edges: buildings, signs.
        green: the share of pixels with the colours of leaves and grass.
        sky: the share of the upper part that is bright and smooth, blue or grey.
    """

    contrast: float
    sharp: float
    detail: float
    straight: float
    green: float
    sky: float


def pixel_figures(image: "Image") -> PixelFigures:
    """Return the statistics of a picture at `SIDE_PX` along its longer side, or at full size if it is smaller."""
    scale = min(1.0, SIDE_PX / max(image.size))
    size = max(3, round(image.width * scale)), max(3, round(image.height * scale))
    small = np.asarray(image.convert("RGB").resize(size, reducing_gap=3.0), dtype=np.float64) / 255
    grey: FloatArray = small @ np.array([0.299, 0.587, 0.114])
    down = (grey[2:, 1:-1] - grey[:-2, 1:-1]) / 2
    across = (grey[1:-1, 2:] - grey[1:-1, :-2]) / 2
    steep = np.hypot(down, across)
    on_edge = steep > _EDGE
    return PixelFigures(
        contrast=min(1.0, 2 * float(grey.std())),
        sharp=_sharp(steep, on_edge),
        detail=float(on_edge.mean()),
        straight=_straight(down[on_edge], across[on_edge]),
        green=_green(small),
        sky=_sky(small, steep),
    )


def _sharp(steep: FloatArray, on_edge: npt.NDArray[np.bool_]) -> float:
    if not on_edge.any():
        return 0.0
    return min(1.0, float(np.percentile(steep[on_edge], 95)) / _SHARP_EDGE)


def _straight(down: FloatArray, across: FloatArray) -> float:
    """Return 0 if directions are spread evenly, 1 if all edges are vertical or horizontal."""
    if len(down) == 0:
        return 0.0
    off_axis = np.degrees(np.arctan2(np.abs(down), np.abs(across)))
    aligned = float(np.mean(np.minimum(off_axis, 90 - off_axis) <= _AXIS_DEG))
    by_chance = 2 * _AXIS_DEG / 90
    return max(0.0, (aligned - by_chance) / (1 - by_chance))


def _green(small: FloatArray) -> float:
    red, green, blue = small[..., 0], small[..., 1], small[..., 2]
    return float(np.mean((green > red * 1.05) & (green > blue * 1.15) & (green > 0.12)))


def _sky(small: FloatArray, steep: FloatArray) -> float:
    rows = max(1, round(_SKY_ROWS * steep.shape[0]))
    top, flat = small[1:-1, 1:-1][:rows], steep[:rows] < _EDGE / 3
    red, blue = top[..., 0], top[..., 2]
    return float(np.mean(flat & (top.mean(axis=2) > 0.45) & (blue >= red * 0.98)))


def object_in(text: str) -> dict[str, JsonValue] | None:
    """Return the last complete object of a reply, with folded keys; None if there is none.

    The last, because models that think aloud write drafts first.
    """
    found = list(find_objects(text))
    return folded(found[-1].value) if found else None


def folded(said: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return keys in lower case with underscores, at all levels: "Image Clarity" is image_clarity."""
    return {
        _NOT_LETTERS.sub("_", name.casefold()).strip("_"): folded(value) if isinstance(value, dict) else value
        for name, value in said.items()
    }


def first_named(said: Mapping[str, JsonValue], names: Iterable[str]) -> JsonValue:
    """Return the value of the first of these names that is there."""
    return next((said[name] for name in names if name in said), None)


def number_in(value: JsonValue) -> float | None:
    """Return a number, written as one or in words such as "8.5/10"; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value)
    match = _NUMBER.fullmatch(value) if isinstance(value, str) else None
    return float(match[1].replace(",", ".")) if match else None


@dataclass(frozen=True, slots=True)
class Locatability:
    """A score and sub-scores, each 0 to 10; None if not given or unknown."""

    score: float
    clarity: float | None = None
    text: float | None = None
    cultural: float | None = None
    natural: float | None = None
    vehicles_and_pedestrians: float | None = None

    def fields(self) -> dict[str, str]:
        """Return the fields of a table; empty if there is no sub-score."""
        subs = {name: getattr(self, name) for name in SUB_SCORES}
        columns = {name: "" if value is None else f"{value:g}" for name, value in subs.items()}
        return {"locatability": f"{self.score:g}", **columns}


def read_locatability(said: Mapping[str, JsonValue]) -> Locatability | None:
    """Parse the scores in a model's object; None if there is no score, or one off the scale."""
    score = _on_scale(first_named(said, _SCORE))
    if score is None:
        return None
    nested = first_named(said, ("sub_scores", "subscores", "scores"))
    inside = nested if isinstance(nested, dict) else said
    return Locatability(score, *(_on_scale(first_named(inside, _SUBS[name])) for name in SUB_SCORES))


def _on_scale(value: JsonValue) -> float | None:
    number = number_in(value)
    return number if number is not None and 0 <= number <= MOST else None


def legible_letters(lines: Sequence[tuple[str, float]]) -> int:
    """Count letters and digits in lines that were read with confidence; lines are (text, confidence)."""
    return sum(
        count
        for text, confidence in lines
        if confidence >= _LEGIBLE and (count := sum(map(str.isalnum, text))) >= _LEAST_LETTERS
    )


def _some_text(lines: Sequence[tuple[str, float]]) -> bool:
    """Return whether something was read, even with low confidence; specks are sometimes read as a letter or two."""
    return any(sure >= _MADE_OUT and sum(map(str.isalnum, text)) >= _LEAST_LETTERS for text, sure in lines)


def bits_of(clues: Sequence[Clue]) -> float:
    """Return how far the most informative clue narrows down the country, in bits against the prior, by reliability."""
    prior = country_prior()
    return max((_bits(clue, prior) for clue in clues), default=0.0)


def _bits(clue: Clue, prior: Mapping[str, float]) -> float:
    gained = sum(share * log2(share / prior[code]) for code, share in clue.countries.items() if share > 0)
    return clue.reliability * gained


def heuristic_locatability(
    pixels: PixelFigures, lines: Sequence[tuple[str, float]], clues: Sequence[Clue], asked: Sequence[Lookup]
) -> Locatability:
    """Return the score by what code can see: text and its meaning, sharpness, straight edges, green and sky.

    It does not recognise landmarks, vehicles or people, nor a room from a street: its score uses only text and simple
    statistics of pixels.

    Args:
        pixels: the statistics.
        lines: the text read, with confidence.
        clues: what the text says of countries.
        asked: the names in it that an atlas could look up.
    """
    letters, bits = legible_letters(lines), bits_of(clues)
    named = max((one.worth for one in asked), default=0.0)
    text = MOST * min(1.0, letters / _FULL_TEXT_LETTERS)
    cultural = MOST * min(1.0, 0.5 * min(1.0, bits / _NAMED_BITS) + 0.5 * min(1.0, pixels.straight / (2 * _STRAIGHT)))
    natural = MOST / 2 * min(1.0, pixels.green + pixels.sky)
    plates = any(clue.kind == "plate" for clue in clues)
    if letters and (bits >= _NAMED_BITS or named >= _WORTH_ASKING):
        score = 9.0 + min(1.0, letters / _FULL_TEXT_LETTERS)
    elif letters and bits >= _SOME_BITS:
        score = 8.0 + min(0.9, letters / _FULL_TEXT_LETTERS)
    elif letters or _some_text(lines):
        score = 6.5 + 0.5 * plates
    elif pixels.detail < _PLAIN_DETAIL and pixels.contrast < _PLAIN_CONTRAST:
        score = 0.0
    elif pixels.detail < _POOR_DETAIL and pixels.green + pixels.sky < _GREEN_OR_SKY:
        score = 2.0
    elif pixels.straight >= _STRAIGHT:
        score = 6.0
    elif pixels.green + pixels.sky >= _GREEN_OR_SKY:
        score = 4.5
    else:
        score = 4.0
    return Locatability(
        round(score, 1),
        round(MOST * pixels.sharp, 1),
        round(text, 1),
        round(cultural, 1),
        round(natural, 1),
        6.0 if plates else None,
    )


def read_tags(said: Mapping[str, JsonValue]) -> dict[str, Tag]:
    """Parse the tags in a model's object; a missing or invalid tag is left out."""
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
    """Return the fields of a table; empty if nothing is known."""
    return {field: tags.get(name, "") for field, name in zip(TAG_FIELDS, TAGS, strict=True)}


def heuristic_tags(pixels: PixelFigures, lines: Sequence[tuple[str, float]], clues: Sequence[Clue]) -> dict[str, Tag]:
    """Return the tags by what code can see. What it can't see at all is "maybe", never "no".

    Text and its meaning are seen; leaves and sky by their colours, buildings by their straight edges, which other
    things have too. Vehicles, mountains, water and fields are not seen.
    """
    letters, kinds = legible_letters(lines), {clue.kind for clue in clues}
    straight = pixels.straight >= _TAG_STRAIGHT
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


def read_landmark(said: Mapping[str, JsonValue]) -> str | None:
    """Parse the famous landmark in a model's object; None if it names none."""
    value = first_named(said, ("landmark", "famous_landmark", "landmark_name"))
    if value is True:
        return "unnamed"
    if isinstance(value, dict):
        value = value.get("name")
    if not isinstance(value, str) or value.strip().casefold().rstrip(".") in _NONE:
        return None
    return " ".join(value.split())[:_LONGEST]


def landmark_named(lines: Iterable[str]) -> str | None:
    """Return the first famous sight named in the lines of a picture; None if there is none.

    It sees names, not sights: a photo of the Eiffel Tower without any text passes, and one of a poster with its name
    does not. It knows about a hundred sights of the world, by names that are not common words (a hotel "Hermitage"
    may still be taken for the museum).
    """
    sights = _sights()
    for line in lines:
        words = fold(line).split()
        for start in range(len(words)):
            for end in range(len(words), start, -1):
                if found := sights.get(" ".join(words[start:end])):
                    return found
    return None


@cache
def _sights() -> Mapping[str, str]:
    """Return main names by every folded name."""
    from geosleuth.atlas.facts.landmarks import landmarks

    found: dict[str, str] = {}
    for one in landmarks():
        if one.place.kind not in _NO_SIGHTS:
            for name in one.names:
                key = fold(name)
                if len(key) >= _LANDMARKS_LEAST_LETTERS or not key.isascii():
                    found.setdefault(key, one.place.name)
    return found
