"""A stand-in for the Observer: it knows what a scene holds, and tells what would be seen of it in the view at hand."""

import random
from collections.abc import Sequence

from geosleuth.data.observer import Box, Lettering, lettering_words
from geosleuth.errors import BadInput
from geosleuth.photo import View
from geosleuth.policies import Conversation, Prompt, Step
from geosleuth.world import Clue, Mark, Scene, SceneKind, Sort
from geosleuth.world.reader import LEGIBLE_PX, is_in_view

from .describing import BOARDS, seen_sorts, surroundings
from .misreading import misread
from .slips import USUAL_SLIPS, Slipped, Slips

NOTICED_PX = 3.0
"""Letters that are this tall in a view are seen to be letters, if not read."""

_HIDDEN_READ = 0.35


def refuse_panorama(kind: SceneKind) -> None:
    """Let all other kinds of scene pass.

    Raises:
        BadInput: it is a panorama, of whose views the clue boxes say nothing.
    """
    if kind == "panorama":
        raise BadInput("panoramas are looked at in views, which have no clue boxes; take street scenes")


class StandInObserver:
    """Says what the marks of a scene would let somebody see in each view, with misses and misreadings.

    Lettering is read where it lies in the view that is shown and its letters are large enough there, so that small
    clues are read after a zoom alone; see `geosleuth.world.reader`. What is not written is seen where it has a mark. A
    line is missed or misread by chance, which hangs on the seed, the scene, the clue and the view.
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
        """Take the scene and where its clues stand in the picture.

        Args:
            scene: what is seen; no panorama, since clue boxes say nothing about the views one is cut into.
            marks: where its clues stand.
            photo: the handle of the scene's photo; of others, such as maps that tools drew, nothing is told. Without
                it, every view that could be one of the scene is taken for one.
            seed: another one slips elsewhere.
            slips: how often.
            slipped: counts the mistakes.

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
        """Describe the picture that is asked about."""
        asked = next(one for one in reversed(conversation.messages) if isinstance(one, Prompt))
        view = conversation.picture(asked.images[0])
        return Step(text=self.describe(view), model=self.name)

    async def aclose(self) -> None:
        """Nothing to let go of."""

    def describe(self, view: View) -> str:
        """What is seen in a view."""
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
        """The boards in a view with what is read on them."""
        if not self._is_of_scene(view):
            return []
        found = []
        for clue in self._scene.clues:
            one = self._seen(clue, view) if clue.lines and clue.board else None
            if one is not None:
                found.append(one)
        return sorted(found, key=lambda one: (one.box[1], one.box[0], one.lines))

    def sees(self, sort: Sort) -> bool:
        """Whether such a clue, of those that are not written, is in the picture."""
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
    """What is left of a line behind a tree or a van: its beginning or its end."""
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
    """A box of the original on a view, within its edges."""
    left, top = view.box_in_original[:2]
    width, height = view.size
    x0, x1 = (min(max(round((side - left) * scale), 0), width) for side in (box[0], box[2]))
    y0, y1 = (min(max(round((side - top) * scale), 0), height) for side in (box[1], box[3]))
    return x0, y0, max(x1, x0 + 1), max(y1, y0 + 1)
