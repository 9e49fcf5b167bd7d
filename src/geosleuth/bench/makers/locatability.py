"""How easily a photo can be located: a score from 0 to 10 with sub-scores, said by a model or reckoned by a heuristic.

The scale, as GeoSeek uses it: 10 a landmark or a legible sign; 8 to 9 part of a landmark, text that can be made out;
6 to 7 ordinary streets, number plates; 4 to 5 mostly nature; 1 to 3 indoors or abstract; 0 nothing at all.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2

from geosleuth.answer.loose_json import JsonValue
from geosleuth.clues import Clue, Lookup, country_prior

from .pixels import PixelFigures
from .reading import first_named, number_in

MOST = 10.0
SUB_SCORES = ("clarity", "text", "cultural", "natural", "vehicles_and_pedestrians")

SCALE = """10: a landmark, or a sign, house number or shop name that can be read.
8 to 9: part of a landmark, a skyline, or text that can just be made out.
6 to 7: ordinary streets and buildings, number plates, text that is not clear.
4 to 5: mostly nature, or buildings without features.
1 to 3: indoors, abstract, a plain background.
0: nothing that tells any place, or a damaged picture."""
"""The scale, in the words that a model is given."""


@dataclass(frozen=True, slots=True)
class Locatability:
    """A score and sub-scores, each 0 to 10; None where nobody said, or nobody could tell."""

    score: float
    clarity: float | None = None
    text: float | None = None
    cultural: float | None = None
    natural: float | None = None
    vehicles_and_pedestrians: float | None = None

    def fields(self) -> dict[str, str]:
        """As fields of a table; the empty text where there is no sub-score."""
        subs = {name: getattr(self, name) for name in SUB_SCORES}
        told = {name: "" if value is None else f"{value:g}" for name, value in subs.items()}
        return {"locatability": f"{self.score:g}", **told}


FIELDS = ("locatability", *SUB_SCORES)

# Models repeat the names that they were given, and now and then those of the paper.
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


def read_locatability(said: Mapping[str, JsonValue]) -> Locatability | None:
    """The scores in the object that a model wrote; None where there is no score, or one that is off the scale."""
    score = _on_scale(first_named(said, _SCORE))
    if score is None:
        return None
    nested = first_named(said, ("sub_scores", "subscores", "scores"))
    inside = nested if isinstance(nested, dict) else said
    return Locatability(score, *(_on_scale(first_named(inside, _SUBS[name])) for name in SUB_SCORES))


def _on_scale(value: JsonValue) -> float | None:
    number = number_in(value)
    return number if number is not None and 0 <= number <= MOST else None


# Without a model. Thresholds are round numbers that were set by looking at drawn scenes and plain pictures; nothing
# was fitted, because there is no set of rated photos to fit anything on.
_FULL_TEXT_LETTERS = 60
_LEGIBLE, _MADE_OUT = 0.85, 0.6
_LEAST_LETTERS = 3
_NAMED_BITS = 5.0
_SOME_BITS = 1.5
_WORTH_ASKING = 0.45
_PLAIN_DETAIL, _PLAIN_CONTRAST, _POOR_DETAIL = 0.004, 0.05, 0.03
_STRAIGHT = 0.35
_GREEN_OR_SKY = 0.35


def legible_letters(lines: Sequence[tuple[str, float]]) -> int:
    """How many letters and figures stand in lines that were read surely; lines as text and confidence."""
    return sum(
        count
        for text, confidence in lines
        if confidence >= _LEGIBLE and (count := sum(map(str.isalnum, text))) >= _LEAST_LETTERS
    )


def _some_text(lines: Sequence[tuple[str, float]]) -> bool:
    """Whether something was read, if not surely; specks are taken for a letter or two now and then."""
    return any(sure >= _MADE_OUT and sum(map(str.isalnum, text)) >= _LEAST_LETTERS for text, sure in lines)


def bits_of(clues: Sequence[Clue]) -> float:
    """How much the most telling clue narrows down the country, in bits against the prior, by its reliability."""
    prior = country_prior()
    return max((_bits(clue, prior) for clue in clues), default=0.0)


def _bits(clue: Clue, prior: Mapping[str, float]) -> float:
    gained = sum(share * log2(share / prior[code]) for code, share in clue.countries.items() if share > 0)
    return clue.reliability * gained


def heuristic_locatability(
    pixels: PixelFigures, lines: Sequence[tuple[str, float]], clues: Sequence[Clue], asked: Sequence[Lookup]
) -> Locatability:
    """The scale by what code can see: text and what it says, sharpness, straight edges, green and sky.

    It can't tell a landmark, a vehicle or a person from anything else, nor a room from a street: what it does not see
    in words or in plain statistics of pixels is not in its score.

    Args:
        pixels: the statistics.
        lines: what was read, and how surely.
        clues: what the text says of countries.
        asked: the names in it that an atlas could be asked about.
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
