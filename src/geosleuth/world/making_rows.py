"""Scenes as rows of a data set that runs, checks and makers open."""

from collections.abc import Sequence
from typing import Any

from geosleuth.bench.makers.tags import FIELDS, TAGS

from .model import Mark, Scene


def set_row(scene: Scene, marks: Sequence[Mark], file_name: str) -> dict[str, Any]:
    """A scene's row: picture, truth, fields to slice by, and boxes that a run may hide."""
    spot = scene.spot
    misleading = next((clue for clue in scene.clues if clue.misleading), None)
    row: dict[str, Any] = {
        "id": scene.id,
        "image": f"images/{file_name}",
        "lat": spot.point.lat,
        "lon": spot.point.lon,
        "country": spot.country,
        "region": spot.region,
        "city": spot.town,
        "scene_kind": scene.kind,
        "split": scene.split,
        "clue_level": scene.finest or "nothing",
        "needs_zoom": _word(is_so=scene.needs_zoom),
        "misleading": misleading.sort if misleading else "no",
        "hidden": _word(is_so=any(clue.visibility == "hidden" for clue in scene.clues)),
        "layout": scene.look.layout,
        "weather": scene.sky.weather,
        "season": scene.sky.season,
        "locatability": scene.locatability,
        **{field: scene.tags.get(tag, "") for field, tag in zip(FIELDS, TAGS, strict=True)},
    }
    boxes = [_box(mark, scene.size) for mark in marks if _is_on(mark, scene.size)]
    return row | ({"boxes": boxes} if boxes else {})


def _word(*, is_so: bool) -> str:
    return "yes" if is_so else "no"


def _is_on(mark: Mark, size: tuple[int, int]) -> bool:
    left, top, right, bottom = mark.box
    return left < right and top < bottom and left < size[0] and top < size[1] and right > 0 and bottom > 0


def _box(mark: Mark, size: tuple[int, int]) -> dict[str, Any]:
    kind = "clue" if mark.line is None else "text"
    return {"kind": kind, "box": list(mark.box), "size": list(size)}
