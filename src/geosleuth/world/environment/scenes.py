"""Episodes about scenes that are designed and drawn on the spot: endless, and the same for the same number."""

from collections.abc import Mapping
from typing import Any, Literal

from geosleuth.errors import BadInput
from geosleuth.photo import open_photo
from geosleuth.world.design import design_scene, truth_of
from geosleuth.world.drawing import draw_scene
from geosleuth.world.model import Scene, SceneKind, Split
from geosleuth.world.reader import clue_reader
from geosleuth.world.world import World

from .posing import Posed, Poser

Reading = Literal["pixels", "clue boxes"]
"""What the tool read_text reads with: the text reading that comes with the package, or the scene's own clue boxes."""


def pose_scene(scene: Scene, *, reading: Reading = "pixels") -> Posed:
    """An episode about a scene, with the very pixels that `geosleuth world make` would write to a file.

    Raises:
        BadInput: a panorama is to be read by its clue boxes; they say nothing about the views it is cut into.
    """
    if reading == "clue boxes" and scene.kind == "panorama":
        raise BadInput('panoramas are looked at in views, which have no clue boxes; take reading="pixels"')
    drawing = draw_scene(scene)
    opened = open_photo(drawing.jpeg(), kind="panorama" if scene.kind == "panorama" else "photo")
    reader = clue_reader(scene, drawing.marks, photo=opened.photo.handle) if reading == "clue boxes" else None
    return Posed((opened,), truth_of(scene), reader)


def scene_poser(
    world: World, *, seed: int, split: Split = "train", kind: SceneKind = "street", reading: Reading = "pixels"
) -> Poser:
    """Takes rows with a column ``scene``, the number of a scene from 0 on; see `scene_rows`.

    Args:
        world: where the scenes stand. The atlas of the setting must be its own, see `geosleuth.world.world_atlas`.
        seed: another one gives other scenes.
        split: which places and designs may occur.
        kind: which kind of picture.
        reading: what read_text reads with.
    """

    def pose(row: Mapping[str, Any]) -> Posed:
        number = row.get("scene")
        if not isinstance(number, int) or isinstance(number, bool) or number < 0:
            raise BadInput("the row has no scene; its column 'scene' must be a number from 0 on")
        return pose_scene(design_scene(world, seed, number, split=split, kind=kind), reading=reading)

    return pose


def scene_rows(count: int, start: int = 0) -> list[dict[str, Any]]:
    """Rows for `scene_poser`: the numbers of ``count`` scenes, and no truth."""
    return [{"scene": number} for number in range(start, start + count)]
