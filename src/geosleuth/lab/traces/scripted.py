"""Scripts in place of models: an Observer that reads a scene's clue boxes, and the detective as the caller.

They make trajectories where no model is available, and look at no pixels. Tool calls are real. Their names say that
they are stand-ins.
"""

import json
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from difflib import SequenceMatcher
from typing import Any, Literal, NoReturn

from geosleuth.answer import Answer
from geosleuth.lab.scenes import Mark, Scene, SceneClue, SceneKind, Sort
from geosleuth.lab.scenes.scene_reader import LEGIBLE_PX, NOTICED_PX, is_in_view
from geosleuth.lab.traces.geovista import Judgement, Picture, Query, Region
from geosleuth.lab.traces.spotagent import Box, Lettering, lettering_words, read_descriptions, read_lettering
from geosleuth.models import Conversation, Message, Observed, Prompt, Step, Usage
from geosleuth.models.detective import Detective, build_answer
from geosleuth.names import country_name, fold
from geosleuth.photo import View
from geosleuth.photo.text import detect_script
from geosleuth.support.errors import BadInput
from geosleuth.tools import Observation, ToolCall
from geosleuth.tools.toolset import all_tools

MAX_ZOOMS = 2
_MARGIN, _MIN_MARGIN_PX = 0.35, 12
_ANY_SIZE = (10_000, 10_000)
_SIZE = re.compile(r"(image-\d+) \((\d+) x (\d+) pixels\)")
_SIDE = re.compile(r"traffic keeps (left|right)", re.IGNORECASE)
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_SENTENCES = re.compile(r"(?<=\.)\s+")
_TITLES = (
    re.compile(r"^(?P<name>.+), (?P<town>[^,]+) - "),
    re.compile(r"^(?P<name>.+) in (?P<town>[^:]+): "),
    re.compile(r"^(?P<town>[^:]+): \d+ years of (?P<name>.+)$"),
)
_CONFUSED = re.compile(r"confused with (?P<name>.+) in (?P<town>.+), which dates from")
_ALIKE = 0.85
_QUOTED_PAGE = re.compile(r'^\d+\. ("(?:[^"\\]|\\.)*"); ("(?:[^"\\]|\\.)*"); ', re.MULTILINE)
_SHOWN_LINES = 4
_TOLD_REASONS = 400
# Missing information that motivates a call to each tool, and the reason for choosing that tool.
_CALL_REASONS: Mapping[str, tuple[str, str]] = {
    "maps_geocode": ("where {what} lies", "maps_geocode turns a name into coordinates."),
    "poi_keyword_search": ("where there is a {what}", "poi_keyword_search finds mapped places by their names."),
    "reverse_geocode": ("what lies at that point", "reverse_geocode names country, region and settlement there."),
    "range_fix": (
        "the spot that lies as far from these towns as the sign says",
        "range_fix puts the circles together.",
    ),
    "search_web": ("which town has the {what}", "search_web finds pages that tell several of one name apart."),
    "image_zoom_in_tool": (
        "the words on a board that is too small in this view",
        "a cut from the original has more pixels.",
    ),
}
_PLANTS = {"none": "hardly any plants", "shrub": "low shrubs", "cactus": "cacti", "bamboo": "bamboo"}


@dataclass(frozen=True, slots=True)
class Slips:
    """Error rates, each a probability. They were set by hand and do not measure any model.

    Attributes:
        missed: text that is large enough to read is not noticed.
        bad_call: a call is invalid.
    """

    missed: float = 0.08
    bad_call: float = 0.03

    def __post_init__(self) -> None:
        for name, rate in asdict(self).items():
            if not 0.0 <= rate <= 1.0:
                raise BadInput(f"the rate of {name} must be from 0 to 1, not {rate}")


@dataclass(slots=True)
class Slipped:
    """The errors of one run, counted by the names of the rates."""

    missed: int = 0
    bad_call: int = 0


USUAL_SLIPS = Slips()
NO_SLIPS = Slips(0.0, 0.0)


def refuse_panorama(kind: SceneKind) -> None:
    """Accept all kinds of scene but panoramas.

    Raises:
        BadInput: it is a panorama, which has no clue boxes for its views.
    """
    if kind == "panorama":
        raise BadInput("panoramas have no clue boxes for their views; use street scenes")


def find_visible_sorts(scene: Scene, marks: Sequence[Mark]) -> frozenset[Sort]:
    """Return the sorts of textless clues in the picture: a clue without a mark was not drawn."""
    drawn = {mark.clue for mark in marks}
    return frozenset(clue.sort for clue in scene.clues if not clue.lines and clue.id in drawn)


class StandInObserver:
    """Describes what a scene's marks make visible in each view.

    Text is read where it lies in the view and its letters are large enough, so that small clues need a zoom; see
    `lab.scenes.scene_reader`. Textless clues are seen where they have a mark. Whether a board is missed depends on the
    seed, the scene, the clue and the view.
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
        self._scene, self._photo, self._seed, self._slips = scene, photo, seed, slips
        self.seen = find_visible_sorts(scene, marks)
        self._slipped = Slipped() if slipped is None else slipped
        self._boards = {mark.clue: mark.box for mark in marks if mark.line is None}
        self._lines = [mark for mark in marks if mark.line is not None]

    async def step(self, conversation: Conversation) -> Step:
        """Describe the requested picture."""
        asked = next(message for message in reversed(conversation.messages) if isinstance(message, Prompt))
        return Step(text=self.describe(conversation.picture(asked.images[0])), model=self.name)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def describe(self, view: View) -> str:
        """Describe what is visible in a view."""
        if not self._is_of_scene(view):
            return "This is no part of the photo."
        is_whole = view.box_in_original == (0, 0, *self._scene.size)
        lines = list(self._surroundings()) if is_whole else []
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
        found = (self._read_clue(clue, view) for clue in self._scene.clues if clue.lines and clue.board)
        return sorted(
            (item for item in found if item is not None), key=lambda item: (item.box[1], item.box[0], item.lines)
        )

    def _is_of_scene(self, view: View) -> bool:
        _, _, right, bottom = view.box_in_original
        is_inside = right <= self._scene.size[0] and bottom <= self._scene.size[1]
        return is_inside and self._photo in (None, view.photo_handle)

    def _read_clue(self, clue: SceneClue, view: View) -> Lettering | None:
        inside = [mark for mark in self._lines if mark.clue == clue.id and is_in_view(mark.box, view.box_in_original)]
        left, top, right, _ = view.box_in_original
        scale = view.size[0] / (right - left)
        legible = [mark for mark in inside if mark.letter_px * scale >= LEGIBLE_PX]
        tallest = max((mark.letter_px * scale for mark in inside), default=0.0)
        if tallest < NOTICED_PX or clue.visibility == "hidden":
            return None
        chance = random.Random(f"stand-in {self._seed} {self._scene.id} {clue.id} {view.box_in_original}")  # noqa: S311
        if legible and chance.random() < self._slips.missed:
            self._slipped.missed += 1
            return None
        lines = tuple(clue.lines[mark.line] for mark in legible if mark.line is not None)
        box = self._boards.get(clue.id) or inside[0].box
        shifted = [(side - (left, top)[at % 2]) * scale for at, side in enumerate(box)]
        held = [round(min(max(0.0, side), view.size[at % 2])) for at, side in enumerate(shifted)]
        board = (clue.board or "notice").replace("_", " ")
        return Lettering(view.handle, board, (held[0], held[1], held[2], held[3]), lines, len(legible) < len(inside))

    def _surroundings(self) -> Iterator[str]:
        """Yield the general lines of a description; textless clues only if they are in the picture."""
        look, seen = self._scene.look, self.seen
        around: list[str] = [
            look.layout,
            *([look.terrain] if "terrain" in seen else []),
            look.ground,
            self._scene.sky.weather,
        ]
        if "vegetation" in seen:
            around.append(plants(look.plant))
        yield f"Surroundings: {', '.join(around)}.".replace("_", " ")
        if "architecture" in seen:
            walls = " and ".join(dict.fromkeys(look.walls)) or "plain"
            yield f"Buildings: {walls} walls, {look.roof} roofs, {look.storeys[0]} to {look.storeys[1]} storeys."
        road: list[str] = [look.road]
        if "driving_side" in seen:
            road.append(f"traffic keeps {look.drives_on}")
        if "road_marking" in seen:
            road.append(f"{look.centre_line} centre line, {look.edge_line} edge lines")
        if "pole" in seen:
            road.append(f"{look.poles} poles")
        yield f"Road: {', '.join(road)}."


def plants(plant: str) -> str:
    """Return the vegetation, described by its form."""
    return _PLANTS.get(plant, f"{plant} trees")


class Notes:
    """Notes of a text-only caller: the lines that were read, as the detective's own readings of the photo."""

    def __init__(self, described: Sequence[tuple[str, str]]) -> None:
        """Take descriptions with the handles of their pictures."""
        self.boards = [item for handle, text in described for item in read_lettering(handle, text)]
        self.lines = tuple(dict.fromkeys((board.board, line) for board in self.boards for line in board.lines))
        self._first = described[0][0] if described else ""
        sides = [match[1].lower() for _, text in described if (match := _SIDE.search(text))]
        self._side: Literal["left", "right"] | None = None if not sides else "left" if sides[0] == "left" else "right"

    @property
    def unread(self) -> list[Lettering]:
        """Return the boards of the first picture with text that is too small to read, signs of places first."""
        small = [board for board in self.boards if board.handle == self._first and board.unread]
        return sorted(small, key=lambda item: ("sign" not in item.board and "plate" not in item.board, item.box))

    @property
    def shops(self) -> list[str]:
        """Return names of shops: the first line of each front."""
        return [board.lines[0] for board in self.boards if board.board in ("shop front", "banner") and board.lines]

    @property
    def years(self) -> list[str]:
        """Return years that stand by themselves, such as those that shops were founded in."""
        return [line for _, line in self.lines if _YEAR.fullmatch(line)]

    def detective(self, pages: Sequence[tuple[str, str]] = ()) -> Detective:
        """Return the detective, who knows the side of the road, and the town that web pages give a shop."""
        town = town_on_pages(pages, self.shops, self.years)
        return Detective(drives_on=self._side, hint=None if town is None else f"It is in {town}.")

    def summarize_last_reading(self) -> str:
        """Return what was read last, in one sentence."""
        read = [
            f"the {board} says {json.dumps(line, ensure_ascii=False)}" for board, line in self.lines[-_SHOWN_LINES:]
        ]
        return f"{'; '.join(read)}." if read else "nothing is legible yet."

    def readings(self) -> list[Message]:
        """Return the lines as calls of `read_text` and their outcome, which is how the detective learns of them."""
        lines: list[dict[str, Any]] = []
        top, before = 0.0, ""
        for board, line in self.lines:
            # Lines of one board stand together, boards far apart.
            top += 20.0 if board == before else 400.0
            before = board
            row = {"text": line, "bbox_px": [0.0, top, 100.0, top + 12.0], "confidence": 1.0}
            lines.append({**row, "script": detect_script(line)})
        call = ToolCall("read", "read_text", {"image": self._first})
        seen = Observation("read", "read_text", "", data={"image": self._first, "lines": lines})
        return [Step(calls=(call,)), Observed((seen,))]


class StandInCaller:
    """The detective as SpotAgent's caller: it reads the Observer's words, calls one tool a turn, and says why.

    Boards that are too small to read are zoomed into first. With ``searches`` the web is asked about a shop and its
    year, once the map was asked for its name.
    """

    name = "stand-in caller"
    hosts: frozenset[str] = frozenset()

    def __init__(
        self,
        key: str,
        *,
        seed: int = 0,
        slips: Slips = USUAL_SLIPS,
        slipped: Slipped | None = None,
        searches: bool = False,
    ) -> None:
        """Take what errors depend on beside the seed; ``slipped`` counts them."""
        self._key, self._slips, self._searches = f"{seed} {key}", slips, searches
        self._slipped = Slipped() if slipped is None else slipped

    async def step(self, conversation: Conversation) -> Step:
        """Return the next call, or the answer."""
        described, made = _read_history(conversation)
        notes = Notes(described)
        detective = notes.detective([page for _, seen in made for page in _pages(seen)])
        shown = _as_read(conversation, notes)
        if conversation.may_call:
            call = self._own_call(conversation, notes, made)
            if call is None:
                step = await detective.step(shown)
                call = step.calls[0] if step.calls else None
            if call is not None:
                return self._calling(call, notes, len(made))
        answer = build_answer(detective.review(shown), forced=False)
        why = (answer.explanation or "").replace("\n", " ")[:_TOLD_REASONS]
        return Step(text=_closing(answer), thinking=f"Seen: {notes.summarize_last_reading()} {why}", model=self.name)

    async def aclose(self) -> None:
        """Do nothing: there is nothing to close."""

    def _own_call(
        self, conversation: Conversation, notes: Notes, made: Sequence[tuple[ToolCall, Observation]]
    ) -> ToolCall | None:
        """Return the zoom or the search that precedes the detective's own questions."""
        tools = {tool.name for tool in conversation.tools}
        asked = [(call.name, call.arguments) for call, _ in made]
        zooms = sum(name == "image_zoom_in_tool" for name, _ in asked)
        if "image_zoom_in_tool" in tools and zooms < MAX_ZOOMS:
            sizes = _sizes(conversation)
            for board in notes.unread:
                box = with_margin(board.box, sizes.get(board.handle, _ANY_SIZE))
                zoom = ToolCall("", "image_zoom_in_tool", {"bbox_2d": list(box), "image": board.handle})
                if (zoom.name, zoom.arguments) not in asked:
                    return zoom
        is_asked = any(name in ("maps_geocode", "poi_keyword_search") for name, _ in asked)
        if self._searches and "search_web" in tools and notes.shops and notes.years and is_asked:
            search = ToolCall("", "search_web", {"query": f"{notes.shops[0]} {notes.years[0]}"})
            if (search.name, search.arguments) not in asked:
                return search
        return None

    def _calling(self, call: ToolCall, notes: Notes, turn: int) -> Step:
        missing, why = _CALL_REASONS.get(call.name, ("what this tool can tell", f"{call.name} is what tells it."))
        arguments = call.arguments if isinstance(call.arguments, Mapping) else {}
        named = next((str(arguments[key]) for key in ("address", "keyword", "query") if key in arguments), "")
        thinking = (
            f"1. Seen: {notes.summarize_last_reading()}\n2. Missing: "
            f"{missing.format(what=json.dumps(named, ensure_ascii=False))}.\n3. Tool: {why}"
        )
        chance = random.Random(f"caller {self._key} {turn}")  # noqa: S311 - no secret depends on it
        if chance.random() < self._slips.bad_call:
            self._slipped.bad_call += 1
            call = chance.choice(
                (replace(call, name=f"{call.name.partition('_')[0]}_lookup"), replace(call, arguments={}))
            )
        call = replace(call, id=f"call-{turn + 1}")
        return Step(thinking=thinking, calls=(call,), finish="calls", model=self.name)


class StandInProposer:
    """Proposes by rules from what the stand-in Observer sees; it answers only as far as that supports."""

    name = "stand-in proposer"
    hosts: frozenset[str] = frozenset()
    used = Usage(tries=0)

    def __init__(
        self, scene: Scene, marks: Sequence[Mark], *, seed: int = 0, searches: bool = False, **observer: Any
    ) -> None:
        """Take what `StandInObserver` takes; with ``searches`` the web is asked about shops and their years.

        Raises:
            BadInput: the scene is a panorama.
        """
        self._observer = StandInObserver(scene, marks, seed=seed, **observer)
        self._searches = searches

    async def regions(self, picture: Picture, handle: str, most: int) -> tuple[Region, ...]:
        """Return boards, those that are too small to read first."""
        view = picture(handle)
        boards = sorted(self._observer.lettering(view), key=lambda item: (not item.unread, item.box))
        found = [
            Region(
                with_margin(board.box, view.size),
                f"The {board.board} seems to say {json.dumps(board.lines[0], ensure_ascii=False)}. I look closer."
                if board.lines
                else f"There is a {board.board} that I can't read at this size. A closer look may bring a name.",
            )
            for board in boards[:most]
        ]
        width, height = view.size
        middle = (width // 4, height // 4, 3 * width // 4, 3 * height // 4)
        return tuple(found) or (Region(middle, "No sign stands out at first sight. I look closer at the middle."),)

    async def queries(self, picture: Picture, handles: Sequence[str], most: int) -> tuple[Query, ...]:
        """Return searches about the text that was read, and about the likeliest country."""
        notes = self._notes(picture, handles)
        reasoning = notes.detective().review(_alone(notes))
        names = dict.fromkeys([*(lookup.text for lookup in reasoning.lookups), *notes.shops])
        where = country_name(next(iter(reasoning.at_first.countries), ""))
        year = notes.years[0] if self._searches and notes.years else ""
        found = [
            Query(
                f"{name} {year if year and name in notes.shops else where}".strip(),
                f"{notes.summarize_last_reading()} I search for it.",
            )
            for name in list(names)[: most - 1]
        ]
        found.append(
            Query(f"{where} road signs and licence plates", f"I think of {where}; whether these fit can be looked up.")
        )
        return tuple(found[:most])

    async def judge(self, picture: Picture, handles: Sequence[str], found: Sequence[str]) -> Judgement:
        """Answer as far as the text that was read supports it."""
        notes = self._notes(picture, handles)
        pages = [(json.loads(item[1]), json.loads(item[2])) for text in found for item in _QUOTED_PAGE.finditer(text)]
        reasoning = notes.detective(pages if self._searches else ()).review(_alone(notes))
        country = country_name(next(iter(reasoning.at_first.countries), ""))
        city = town_on_pages(pages, notes.shops, notes.years) if self._searches else None
        city = city or next((line for board, line in notes.lines if board == "town sign"), None)
        known = {"country": country, **({"city": city} if city else {})}
        sentence = (
            f"This looks like {', '.join(reversed(known.values()))}{'' if city else '; the town can not be told'}."
        )
        helped = " What I looked up does not speak against it." if found else ""
        answer = f"<answer>\n{sentence}\n{json.dumps(known, ensure_ascii=False)}\n</answer>"
        return Judgement(f"{notes.summarize_last_reading()}{helped}", answer)

    def _notes(self, picture: Picture, handles: Sequence[str]) -> Notes:
        views = ((handle, self._observer.lettering(picture(handle))) for handle in handles)
        return Notes([(handle, "\n".join(map(lettering_words, seen))) for handle, seen in views])


def town_on_pages(pages: Sequence[tuple[str, str]], shops: Sequence[str], years: Sequence[str]) -> str | None:
    """Return the town that most pages, each a title and a text, give a shop of one of these names and years.

    A sentence that names another shop's town and year speaks of that one, not of the one its page is about.
    """
    votes: Counter[str] = Counter()
    for title, text in pages:
        head = next((found for form in _TITLES if (found := form.match(title))), None)
        for sentence in _SENTENCES.split(text):
            said = _CONFUSED.search(sentence) or head
            has_year = any(re.search(rf"\b{year}\b", sentence) for year in years)
            if has_year and said is not None and any(_is_same_name(said["name"], shop) for shop in shops):
                votes[said["town"]] += 1
    return max(votes, key=lambda town: (votes[town], town), default=None)


def with_margin(box: Box, size: tuple[int, int]) -> Box:
    """Return a box with a margin around it, clipped to the picture."""
    left, top, right, bottom = box
    across = max(_MIN_MARGIN_PX, round((right - left) * _MARGIN))
    down = max(_MIN_MARGIN_PX, round((bottom - top) * _MARGIN))
    return max(0, left - across), max(0, top - down), min(size[0], right + across), min(size[1], bottom + down)


def _is_same_name(text: str, other: str) -> bool:
    return SequenceMatcher(None, fold(text), fold(other)).ratio() >= _ALIKE


def _read_history(conversation: Conversation) -> tuple[list[tuple[str, str]], list[tuple[ToolCall, Observation]]]:
    described: list[tuple[str, str]] = []
    made: list[tuple[ToolCall, Observation]] = []
    waiting: dict[str, ToolCall] = {}
    for message in conversation.messages:
        match message:
            case Prompt(text=text):
                described += read_descriptions(text)
            case Step(calls=calls):
                waiting = {call.id: call for call in calls}
            case Observed(observations=observations):
                for observation in observations:
                    described += read_descriptions(observation.text)
                    made += [(waiting[observation.call_id], observation)] if observation.call_id in waiting else []
    return described, made


def _pages(seen: Observation) -> list[tuple[str, str]]:
    found = seen.data.get("results") if seen.name == "search_web" and isinstance(seen.data, Mapping) else None
    return [(str(item.get("title")), str(item.get("snippet"))) for item in found or ()]


def _as_read(conversation: Conversation, notes: Notes) -> Conversation:
    """Return the conversation as if the detective had read the lines itself."""
    tools = (*conversation.tools, *all_tools().select(("read_text",)))
    messages = (*conversation.messages, *notes.readings())
    return replace(conversation, messages=messages, tools=tools, picture=_refuse_image)


def _alone(notes: Notes) -> Conversation:
    return Conversation("", tuple(notes.readings()), tuple(all_tools().select(("read_text",))), _refuse_image)


def _refuse_image(handle: str) -> NoReturn:
    raise KeyError(handle)


def _sizes(conversation: Conversation) -> dict[str, tuple[int, int]]:
    task = " ".join(message.text for message in conversation.messages if isinstance(message, Prompt))
    return {match[1]: (int(match[2]), int(match[3])) for match in _SIZE.finditer(task)}


def _closing(answer: Answer) -> str:
    """Return an answer in SpotAgent's format."""
    address, point = answer.address, answer.point
    city = address.precise.conclusion or address.region.conclusion or "unknown"
    lines = [f"Country: {address.country.conclusion or 'unknown'}", f"City: {city}"]
    if point is not None:
        lines += [f"Latitude: {point.lat:.5f}", f"Longitude: {point.lon:.5f}"]
    return "\n".join(["<answer>", *lines, "</answer>"])
