"""Locatability and content of a photo, as rated by a model.

The scale, as GeoSeek uses it: 10 a landmark or a legible sign; 8 to 9 part of a landmark, text that can be made out;
6 to 7 ordinary streets, number plates; 4 to 5 mostly nature; 1 to 3 indoors or abstract; 0 nothing at all.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from geosleuth.answer.parse import JsonValue, find_objects

_NOT_LETTERS = re.compile(r"[^a-z0-9]+")
_NUMBER = re.compile(r"\s*(\d{1,3}(?:[.,]\d+)?)\s*(?:/\s*10|points?|pts)?\s*")
MOST = 10.0
SUB_SCORES = ("clarity", "text", "cultural", "natural", "vehicles_and_pedestrians")
# The rating scale, as worded for a model.
SCALE = """10: a landmark, or a sign, house number or shop name that can be read.
8 to 9: part of a landmark, a skyline, or text that can just be made out.
6 to 7: ordinary streets and buildings, number plates, text that is not clear.
4 to 5: mostly nature, or buildings without features.
1 to 3: indoors, abstract, a plain background.
0: nothing that tells any place, or a damaged picture."""
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
Tag = Literal["yes", "no", "maybe"]
TAGS = (
    "manmade", "traffic", "buildings", "sign", "language", "natural", "plants", "weather", "mountains_and_rivers",
    "agricultural",
)  # fmt: skip
# Table columns for tags, with a prefix: a set's own column may be called "natural", and means something else.
TAG_FIELDS = tuple(f"tag_{name}" for name in TAGS)
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
_NONE = frozenset({"", "none", "null", "no", "n/a", "na", "false", "unknown", "nothing"})
_LONGEST = 120


def parse_last_object(text: str) -> dict[str, JsonValue] | None:
    """Return the last complete object of a reply, with folded keys; None if there is none.

    The last, because models that think aloud write drafts first.
    """
    found = list(find_objects(text))
    return fold_keys(found[-1].value) if found else None


def fold_keys(said: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    """Return keys in lower case with underscores, at all levels: "Image Clarity" is image_clarity."""
    return {
        _NOT_LETTERS.sub("_", name.casefold()).strip("_"): fold_keys(value) if isinstance(value, dict) else value
        for name, value in said.items()
    }


def first_named(said: Mapping[str, JsonValue], names: Iterable[str]) -> JsonValue:
    """Return the value of the first of these names that is there."""
    return next((said[name] for name in names if name in said), None)


def parse_number(value: JsonValue) -> float | None:
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
    number = parse_number(value)
    return number if number is not None and 0 <= number <= MOST else None


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
