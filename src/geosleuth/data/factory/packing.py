"""What a try is made from, as bytes that travel to where it is made: a line of JSON, then a picture if there is one."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.world import Mark, Scene
from geosleuth.world.model import mark_from_dict, mark_to_dict, scene_from_dict, scene_to_dict


@dataclass(frozen=True, slots=True)
class Drawn:
    """A scene, where its clues stand in the picture, and the picture as a JPEG file."""

    scene: Scene
    marks: tuple[Mark, ...]
    jpeg: bytes = field(repr=False)


def pack(head: Mapping[str, Any], picture: bytes = b"") -> bytes:
    """Both in one piece."""
    return json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" + picture


def unpack(content: bytes) -> tuple[dict[str, Any], bytes]:
    """What `pack` put together.

    Raises:
        BadInput: it is something else.
    """
    line, _, picture = content.partition(b"\n")
    try:
        head = json.loads(line)
    except ValueError as error:
        raise BadInput("this is nothing that a try could be made from") from error
    if not isinstance(head, dict):
        raise BadInput("this is nothing that a try could be made from")
    return head, picture


def pack_scene(scene: Scene, marks: Sequence[Mark] = (), jpeg: bytes = b"") -> bytes:
    """A scene to travel; without its picture it is drawn where it arrives."""
    return pack({"scene": scene_to_dict(scene), "marks": [mark_to_dict(mark) for mark in marks]}, jpeg)


def drawn_of(content: bytes) -> Drawn:
    """The scene with its picture, drawn now where it came without.

    Raises:
        BadInput: it is no scene.
    """
    head, jpeg = unpack(content)
    scene = scene_from_dict(head["scene"])
    if jpeg:
        return Drawn(scene, tuple(map(mark_from_dict, head["marks"])), jpeg)
    from geosleuth.world.drawing.picture import draw_scene

    drawing = draw_scene(scene)
    return Drawn(scene, tuple(drawing.marks), drawing.jpeg())
