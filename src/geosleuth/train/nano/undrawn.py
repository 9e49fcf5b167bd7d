"""The teacher's chats about scenes that nobody draws: what to ask for, by the lines of signs alone.

Which line to ask for, and which hit to take, needs no picture. So scenes are only designed, and their signs are read as
if they stood in rows: that costs about a quarter of what a drawn scene does.
"""

from functools import cache
from io import BytesIO

from PIL import Image

from geosleuth.photo import OpenedPhoto, open_photo
from geosleuth.world.design import truth_of
from geosleuth.world.environment import Posed
from geosleuth.world.model import Mark, Scene
from geosleuth.world.reader import clue_reader

from .lessons import Chat

_LETTER_PX = 40
_LETTERS_WIDE = 0.55  # of their height
_LEFT, _TOP, _ROWS_PX = 60, 40, 90


def posed_undrawn(scene: Scene) -> Posed:
    """A scene as an episode poses it, with an empty picture and signs that can be read."""
    opened = blank(scene.size)
    return Posed((opened,), truth_of(scene), clue_reader(scene, rows(scene), photo=opened.photo.handle))


def rows(scene: Scene) -> list[Mark]:
    """Marks of all lines that stand plainly in the scene, one under the other; none of a whole sign, to zoom to."""
    written = [
        (clue.id, at, line)
        for clue in scene.clues if clue.visibility == "plain"
        for at, line in enumerate(clue.lines)
    ]  # fmt: skip
    marks = []
    for row, (clue, at, line) in enumerate(written):
        top = min(_TOP + row * _ROWS_PX, scene.size[1] - _LETTER_PX)
        right = min(_LEFT + round(_LETTERS_WIDE * _LETTER_PX * len(line)), scene.size[0])
        marks.append(Mark(clue, (_LEFT, top, right, top + _LETTER_PX), at, _LETTER_PX))
    return marks


def without_pictures(opening: Chat) -> Chat:
    """An opening of which only the words are left."""
    return [
        {**message, "content": [part for part in message["content"] if part["type"] != "image"]}
        if isinstance(message["content"], list) else message
        for message in opening
    ]  # fmt: skip


@cache
def blank(size: tuple[int, int]) -> OpenedPhoto:
    """An empty picture."""
    stream = BytesIO()
    Image.new("RGB", size, (128, 128, 128)).save(stream, "JPEG")
    return open_photo(stream.getvalue())
