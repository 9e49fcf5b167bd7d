"""A stand-in for the Observer: describes what is visible of a scene in a view, with errors at stated rates."""

import random
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import cache

from geosleuth.lab.scenes import Clue, Look, Mark, Scene, SceneKind, Sky, Sort
from geosleuth.lab.scenes.scene_reader import LEGIBLE_PX, is_in_view
from geosleuth.lab.traces.spotagent import Box, Lettering, lettering_words
from geosleuth.models import Conversation, Prompt, Step
from geosleuth.photo import View
from geosleuth.support.errors import BadInput

BOARDS = {
    "shop_front": "shop front", "street_plate": "street plate", "house_number": "house number",
    "bus_stop": "bus stop", "notice": "notice", "poster": "poster", "billboard": "billboard", "bus": "bus",
    "number_plate": "number plate", "town_sign": "town sign", "direction_sign": "direction sign",
    "road_shield": "road shield", "banner": "banner",
}  # fmt: skip

_TERRAIN = {
    "flat": ("flat ground", "level land"),
    "hills": ("low hills behind", "hilly ground"),
    "mountains": ("mountains in the distance", "a mountain range behind"),
    "coast": ("open water near by", "a shore in the background"),
}
_PLANTS = {
    "broadleaf": ("broadleaf trees", "leafy trees"), "conifer": ("conifers", "dark needle trees"),
    "palm": ("palms", "palm trees"), "cypress": ("slender cypresses", "cypresses"),
    "acacia": ("flat-topped acacias", "thorn trees"), "cactus": ("cacti", "columns of cactus"),
    "bamboo": ("bamboo", "stands of bamboo"), "birch": ("birches", "white-barked birches"),
    "shrub": ("low shrubs", "scrub"), "none": ("hardly any plants", "no trees"),
}  # fmt: skip
_GROUND = {
    "grass": "green verges", "dry_grass": "dry grass", "sand": "sand", "red_earth": "reddish earth",
    "snow": "snow on the ground", "paved": "paved ground",
}  # fmt: skip
_WEATHER = {
    "clear": ("a clear sky", "bright sunshine"), "cloudy": ("broken clouds", "a partly cloudy sky"),
    "overcast": ("an overcast sky", "grey, even light"), "rain": ("rain", "wet weather"),
    "snow": ("falling snow", "snowfall"), "fog": ("fog", "misty air"),
}  # fmt: skip
_LAYOUTS = {
    "high_street": ("a shopping street", "a street lined with shops"),
    "suburb": ("a quiet street of houses", "a residential street"),
    "market": ("a market street", "stalls along the street"), "square": ("a square", "an open square"),
    "country_road": ("a country road", "a road through open land"),
    "industrial": ("a street of halls and yards", "an industrial street"),
}  # fmt: skip
_HIGH_DEG, _LOW_DEG = 50.0, 20.0

_PAIRS = (
    ("0", "O"), ("1", "l"), ("1", "I"), ("l", "I"), ("5", "S"), ("8", "B"), ("6", "G"), ("2", "Z"), ("7", "1"),
    ("3", "8"), ("9", "g"), ("e", "c"), ("a", "o"), ("u", "v"), ("h", "b"), ("n", "h"), ("f", "t"), ("i", "l"),
    ("o", "c"), ("g", "q"), ("D", "O"), ("E", "F"), ("C", "G"), ("P", "R"), ("U", "V"), ("M", "H"), ("rn", "m"),
    ("cl", "d"), ("vv", "w"), ("ri", "n"), ("li", "h"), ("nn", "m"), ("и", "н"), ("ш", "щ"), ("ц", "п"), ("ь", "ъ"),
    ("б", "6"), ("з", "э"), ("п", "л"), ("И", "Н"), ("Ш", "Щ"), ("О", "С"), ("ν", "υ"), ("ο", "σ"), ("Λ", "Δ"),
    ("ι", "ί"), ("ソ", "ン"), ("シ", "ツ"), ("ク", "タ"), ("ロ", "口"), ("ー", "一"), ("は", "ほ"), ("る", "ろ"),
    ("土", "士"), ("未", "末"), ("大", "太"), ("日", "目"), ("人", "入"), ("本", "木"), ("店", "占"), ("千", "干"),
    ("東", "束"), ("京", "亰"), ("이", "어"), ("아", "야"), ("오", "우"), ("가", "기"), ("ด", "ค"), ("ถ", "ก"),
    ("บ", "ป"), ("พ", "ฟ"), ("ب", "ت"), ("ح", "خ"), ("ر", "ز"), ("د", "ذ"), ("ו", "ן"), ("ה", "ח"), ("ד", "ר"),
    ("घ", "ध"), ("व", "ब"), ("ი", "o"),
)  # fmt: skip
"""Pairs of glyphs that are easily confused, in both directions."""
NOTICED_PX = 3.0
"""From this height in a view, letters are recognised as letters, if not read."""
_HIDDEN_READ = 0.35


def seen_sorts(scene: Scene, marks: Sequence[Mark]) -> frozenset[Sort]:
    """Return the sorts of textless clues in the picture: a clue without a mark was not drawn."""
    drawn = {mark.clue for mark in marks}
    return frozenset(clue.sort for clue in scene.clues if not clue.lines and clue.id in drawn)


def plants(look: Look) -> str:
    """Return the vegetation, described by its form."""
    return _PLANTS[look.plant][0]


def surroundings(scene: Scene, seen: Collection[Sort], chance: random.Random) -> list[str]:
    """Return the general lines of a description; of textless clues only those in ``seen``."""
    look = scene.look
    around = (
        _one(_LAYOUTS[look.layout], chance),
        *([_one(_TERRAIN[look.terrain], chance)] if "terrain" in seen else []),
        *([_one(_PLANTS[look.plant], chance)] if "vegetation" in seen else []),
        _GROUND[look.ground],
        *_light(scene.sky, seen, chance),
    )
    buildings = [f"Buildings: {_buildings(look)}."] if "architecture" in seen else []
    return [f"Surroundings: {', '.join(around)}.", *buildings, f"Road: {_road(look, seen)}."]


def _light(sky: Sky, seen: Collection[Sort], chance: random.Random) -> list[str]:
    light = [_one(_WEATHER[sky.weather], chance)]
    if sky.weather == "clear" and "sun" in seen:
        high = sky.sun_elevation_deg
        light.append("short shadows" if high > _HIGH_DEG else "long shadows" if high < _LOW_DEG else "clear shadows")
    return light


def _buildings(look: Look) -> str:
    low, high = look.storeys
    floors = f"{low} storeys" if low == high else f"{low} to {high} storeys"
    walls = " and ".join(dict.fromkeys(look.walls)) or "plain"
    roof = {"gable": "gabled roofs", "hip": "hipped roofs", "flat": "flat roofs", "terrace": "roof terraces"}
    return f"{walls} walls, {roof.get(look.roof, 'curved roofs')}, {floors.replace('1 storeys', '1 storey')}"


def _road(look: Look, seen: Collection[Sort]) -> str:
    parts: list[str] = [look.road]
    if "driving_side" in seen:
        parts.append(f"traffic keeps {look.drives_on}")
    if "road_marking" in seen and look.centre_line != "none":
        parts.append(f"{'double' if look.centre_double else 'single'} {look.centre_line} centre line")
    if "road_marking" in seen and look.edge_line != "none":
        parts.append(f"{look.edge_line} edge lines")
    if "pole" in seen and look.poles != "none":
        parts.append(f"{look.poles} poles{' with wires' if look.wires else ''}")
    return ", ".join(parts)


def _one(words: Sequence[str], chance: random.Random) -> str:
    return chance.choice(list(words))


@cache
def _alike() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for one, other in _PAIRS:
        found[one] = (*found.get(one, ()), other)
        found[other] = (*found.get(other, ()), one)
    return found


def misread(text: str, chance: random.Random) -> str:
    """Return the text with one place, sometimes two, misread; unchanged if nothing in it can be confused."""
    found = _once(text, chance)
    return _once(found, chance) if chance.random() < 0.25 else found


def _once(text: str, chance: random.Random) -> str:
    alike = _alike()
    places = [
        (at, length) for length in (1, 2) for at in range(len(text) - length + 1) if text[at : at + length] in alike
    ]
    marked = [at for at, letter in enumerate(text) if _bare(letter) != letter]
    if marked and (not places or chance.random() < 0.3):
        at = chance.choice(marked)
        return text[:at] + _bare(text[at]) + text[at + 1 :]
    if places:
        at, length = chance.choice(places)
        return text[:at] + chance.choice(alike[text[at : at + length]]) + text[at + length :]
    # Nothing in it has a lookalike, so a letter is lost.
    if len(text) > 3:
        at = chance.randrange(1, len(text) - 1)
        return text[:at] + text[at + 1 :]
    return text


def _bare(letter: str) -> str:
    """Return a letter without its diacritic."""
    plain = unicodedata.normalize("NFD", letter)
    return plain[0] if len(plain) == 2 and unicodedata.category(plain[1]) == "Mn" and plain[0].isalpha() else letter


@dataclass(frozen=True, slots=True)
class Slips:
    """Error rates, each a probability. They were set by hand and do not measure any model.

    Attributes:
        missed: text that is large enough to read is not noticed.
        misread: a line is read with letters that OCR confuses.
        hasty: the caller answers although it could still ask.
        wrong_guess: the caller picks another candidate than the best.
        bad_call: a call is invalid.
    """

    missed: float = 0.08
    misread: float = 0.12
    hasty: float = 0.03
    wrong_guess: float = 0.08
    bad_call: float = 0.03

    def __post_init__(self) -> None:
        for name, rate in asdict(self).items():
            if not 0.0 <= rate <= 1.0:
                raise BadInput(f"the rate of {name} must be from 0 to 1, not {rate}")


@dataclass(slots=True)
class Slipped:
    """The errors of one run, counted by the names of the rates."""

    missed: int = 0
    misread: int = 0
    hasty: int = 0
    wrong_guess: int = 0
    bad_call: int = 0


USUAL_SLIPS = Slips()
NO_SLIPS = Slips(0.0, 0.0, 0.0, 0.0, 0.0)


def refuse_panorama(kind: SceneKind) -> None:
    """Accept all kinds of scene but panoramas.

    Raises:
        BadInput: it is a panorama, which has no clue boxes for its views.
    """
    if kind == "panorama":
        raise BadInput("panoramas have no clue boxes for their views; use street scenes")


class StandInObserver:
    """Describes what a scene's marks make visible in each view, with misses and misreadings.

    Text is read where it lies in the view and its letters are large enough, so that small clues need a zoom; see
    `lab.scenes.scene_reader`. Textless clues are seen where they have a mark. Whether a line is missed or misread
    depends on the seed, the scene, the clue and the view.
    """

    name = "stand-in observer"
    hosts: frozenset[str] = frozenset()

    def __init__(
        self,
        scene: Scene,
        marks: Sequence[Mark],
        *,
        photo: str | None = None,
        seed: int = 0,
        slips: Slips = USUAL_SLIPS,
        slipped: Slipped | None = None,
    ) -> None:
        """Take the scene and the marks of its clues in the picture.

        Args:
            scene: the scene; not a panorama, whose views have no clue boxes.
            marks: the positions of its clues.
            photo: the handle of the scene's photo; other pictures, such as maps that tools drew, are not described.
                Without it, every view that fits the scene counts as one of it.
            seed: changes which errors occur.
            slips: the error rates.
            slipped: counts the errors.

        Raises:
            BadInput: the scene is a panorama.
        """
        refuse_panorama(scene.kind)
        self._photo, self._unwritten = photo, seen_sorts(scene, marks)
        self._scene, self._seed, self._slips = scene, seed, slips
        self._slipped = Slipped() if slipped is None else slipped
        self._whole = {mark.clue: mark for mark in marks if mark.line is None}
        self._lines: dict[str, list[Mark]] = {}
        for mark in marks:
            if mark.line is not None:
                self._lines.setdefault(mark.clue, []).append(mark)

    async def step(self, conversation: Conversation) -> Step:
        """Describe the requested picture."""
        asked = next(one for one in reversed(conversation.messages) if isinstance(one, Prompt))
        view = conversation.picture(asked.images[0])
        return Step(text=self.describe(view), model=self.name)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def describe(self, view: View) -> str:
        """Describe what is visible in a view."""
        if not self._is_of_scene(view):
            return "This is no part of the photo."
        is_whole = view.box_in_original == (0, 0, *self._scene.size)
        lines = surroundings(self._scene, self._unwritten, self._chance("look")) if is_whole else []
        seen = self.lettering(view)
        if seen:
            lines += ["Lettering:", *map(lettering_words, seen)]
        elif not is_whole:
            lines.append("Nothing in this part can be read.")
        return "\n".join(lines)

    def lettering(self, view: View) -> list[Lettering]:
        """Return the boards in a view with the lines read on them."""
        if not self._is_of_scene(view):
            return []
        found = []
        for clue in self._scene.clues:
            one = self._seen(clue, view) if clue.lines and clue.board else None
            if one is not None:
                found.append(one)
        return sorted(found, key=lambda one: (one.box[1], one.box[0], one.lines))

    def sees(self, sort: Sort) -> bool:
        """Return whether a textless clue of this sort is in the picture."""
        return sort in self._unwritten

    def _is_of_scene(self, view: View) -> bool:
        _, _, right, bottom = view.box_in_original
        is_inside = right <= self._scene.size[0] and bottom <= self._scene.size[1]
        return is_inside and self._photo in (None, view.photo_handle)

    def _seen(self, clue: Clue, view: View) -> Lettering | None:
        marks = sorted(self._lines.get(clue.id, ()), key=lambda mark: mark.line or 0)
        inside = [mark for mark in marks if is_in_view(mark.box, view.box_in_original)]
        if not inside:
            return None
        scale = view.size[0] / (view.box_in_original[2] - view.box_in_original[0])
        tallest = max(mark.letter_px for mark in inside) * scale
        chance = self._chance(clue.id, view.box_in_original)
        if tallest < NOTICED_PX or (tallest >= LEGIBLE_PX and chance.random() < self._slips.missed):
            self._slipped.missed += tallest >= LEGIBLE_PX
            return None
        around = self._whole.get(clue.id)
        box = around.box if around and around.line is None else _hull([mark.box for mark in inside])
        lines = [self._read(clue, mark, scale, chance) for mark in inside]
        read = tuple(line for line in lines if line)
        is_small = any(mark.letter_px * scale < LEGIBLE_PX for mark in inside)
        if not read and not is_small:
            return None
        return Lettering(view.handle, BOARDS[clue.board or "notice"], _on(view, box, scale), read, is_small)

    def _read(self, clue: Clue, mark: Mark, scale: float, chance: random.Random) -> str | None:
        if mark.letter_px * scale < LEGIBLE_PX or mark.line is None or mark.line >= len(clue.lines):
            return None
        text = clue.lines[mark.line]
        if clue.visibility == "hidden":
            if chance.random() >= _HIDDEN_READ:
                return None
            text = _partly_covered(text, chance)
        if chance.random() < self._slips.misread:
            read = misread(text, chance)
            self._slipped.misread += read != text
            return read
        return text

    def _chance(self, *what: object) -> random.Random:
        return random.Random(f"observer {self._seed} {self._scene.id} {what}")  # noqa: S311 - no secret depends on it


def _partly_covered(text: str, chance: random.Random) -> str:
    """Return the beginning or the end of a line, the rest being hidden by a tree or a van."""
    kept = max(2, round(len(text) * chance.uniform(0.4, 0.8)))
    return text[:kept].rstrip() if chance.random() < 0.5 else text[-kept:].lstrip()


def _hull(boxes: Sequence[Box]) -> Box:
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def _on(view: View, box: Box, scale: float) -> Box:
    """Map a box of the original onto a view, clipped to its edges."""
    left, top = view.box_in_original[:2]
    width, height = view.size
    x0, x1 = (min(max(round((side - left) * scale), 0), width) for side in (box[0], box[2]))
    y0, y1 = (min(max(round((side - top) * scale), 0), height) for side in (box[1], box[3]))
    return x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)
