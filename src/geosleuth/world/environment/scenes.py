"""Episodes about scenes that are designed and drawn on the spot: endless, and the same for the same number."""

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any, Literal

from geosleuth.errors import BadInput
from geosleuth.files import replacing
from geosleuth.photo import open_photo
from geosleuth.world.design import design_scene, truth_of
from geosleuth.world.drawing import draw_scene
from geosleuth.world.model import Mark, Scene, SceneKind, Split
from geosleuth.world.reader import clue_reader
from geosleuth.world.world import World

from .posing import Posed, Poser

Reading = Literal["pixels", "clue boxes"]
"""What the tool read_text reads with: the text reading that comes with the package, or the scene's own clue boxes."""


def pose_scene(scene: Scene, *, reading: Reading = "pixels", kept: Path | None = None) -> Posed:
    """An episode about a scene, with the very pixels that `geosleuth world make` would write to a file.

    ``kept`` is a folder of pictures that were drawn before; what is not there yet is drawn and put there.

    Raises:
        BadInput: a panorama is to be read by its clue boxes; they say nothing about the views it is cut into.
    """
    if reading == "clue boxes" and scene.kind == "panorama":
        raise BadInput('panoramas are looked at in views, which have no clue boxes; take reading="pixels"')
    jpeg, marks = drawn(scene, kept)
    opened = open_photo(jpeg, kind="panorama" if scene.kind == "panorama" else "photo")
    reader = clue_reader(scene, marks, photo=opened.photo.handle) if reading == "clue boxes" else None
    return Posed((opened,), truth_of(scene), reader)


def drawn(scene: Scene, kept: Path | None = None) -> tuple[bytes, tuple[Mark, ...]]:
    """A scene's picture as a JPEG file, and its marks; from the folder of those that were drawn before, where it is."""
    if kept is None:
        drawing = draw_scene(scene)
        return drawing.jpeg(), drawing.marks
    picture, places = kept / f"{scene.id}.jpg", kept / f"{scene.id}.json"
    # The marks are written first, so that a picture that is there has them.
    if picture.exists():
        lines = json.loads(places.read_text(encoding="utf-8"))
        return picture.read_bytes(), tuple(Mark(clue, tuple(box), *rest) for clue, box, *rest in lines)
    drawing = draw_scene(scene)
    jpeg = drawing.jpeg()
    kept.mkdir(parents=True, exist_ok=True)
    with replacing(places) as file:
        file.write_text(json.dumps([astuple(mark) for mark in drawing.marks]), encoding="utf-8")
    with replacing(picture) as file:
        file.write_bytes(jpeg)
    return jpeg, drawing.marks


def scene_poser(
    world: World,
    *,
    seed: int,
    split: Split = "train",
    kind: SceneKind = "street",
    reading: Reading = "pixels",
    kept: Path | None = None,
) -> Poser:
    """Takes rows with a column ``scene``, the number of a scene from 0 on; see `scene_rows`.

    Args:
        world: where the scenes stand. The atlas of the setting must be its own, see `geosleuth.world.world_atlas`.
        seed: another one gives other scenes.
        split: which places and designs may occur.
        kind: which kind of picture.
        reading: what read_text reads with.
        kept: a folder of pictures that were drawn before, see `pose_scene`.
    """

    def pose(row: Mapping[str, Any]) -> Posed:
        number = row.get("scene")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise BadInput("the row has no scene; its column 'scene' must be a number from 0 on")
        return pose_scene(design_scene(world, seed, number, split=split, kind=kind), reading=reading, kept=kept)

    return pose


def scene_rows(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Rows for `scene_poser`: the numbers of ``count`` scenes, and no truth."""
    return [{"scene": number} for number in range(start, start + count)]
