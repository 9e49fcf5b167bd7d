"""Scenes as plain data, to write down and to read back."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from geosleuth.errors import BadInput
from geosleuth.geo import LatLon

from .model import Business, Camera, Clue, Look, Mark, Scene, Sky, Spot

_Model = TypeVar("_Model")


def scene_to_dict(scene: Scene) -> dict[str, Any]:
    """The scene as JSON can hold it; what is at its default is left out of the lists of clues."""
    found = _plain(scene)
    found["clues"] = [_clue_to_dict(clue) for clue in scene.clues]
    return cast("dict[str, Any]", found)


def scene_from_dict(data: Mapping[str, Any]) -> Scene:
    """The scene that `scene_to_dict` wrote.

    Raises:
        BadInput: it is none.
    """
    try:
        held = dict(data)
        held["size"] = (int(data["size"][0]), int(data["size"][1]))
        held["spot"] = _made(Spot, data["spot"], point=_point(data["spot"]["point"]))
        look = data["look"]
        held["look"] = _made(
            Look, look, walls=tuple(look["walls"]), wall_colours=tuple(look["wall_colours"]),
            storeys=(int(look["storeys"][0]), int(look["storeys"][1])),
        )  # fmt: skip
        held["sky"] = _made(Sky, data["sky"], at=datetime.fromisoformat(data["sky"]["at"]))
        held["camera"] = _made(Camera, data["camera"])
        held["clues"] = tuple(_made(Clue, clue, lines=tuple(clue.get("lines", ()))) for clue in data["clues"])
        business = data.get("business")
        held["business"] = _made(Business, business, point=_point(business["point"])) if business else None
        held["missing"] = tuple(data["missing"])
        held["tags"] = dict(data["tags"])
        held["streets"] = tuple(tuple(map(_point, line)) for line in data.get("streets", ()))
        return Scene(**held)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        raise BadInput(f"this is no scene: {error}; make the folder again with geosleuth world make") from error


def mark_to_dict(mark: Mark) -> dict[str, Any]:
    """A mark as JSON can hold it."""
    return cast("dict[str, Any]", _plain(mark))


def mark_from_dict(data: Mapping[str, Any]) -> Mark:
    """The mark that `mark_to_dict` wrote.

    Raises:
        BadInput: it is none.
    """
    try:
        left, top, right, bottom = (int(edge) for edge in data["box"])
        return _made(Mark, data, box=(left, top, right, bottom))
    except (KeyError, TypeError, ValueError) as error:
        raise BadInput(f"this is no mark: {error}; make the folder again with geosleuth world make") from error


def _clue_to_dict(clue: Clue) -> dict[str, Any]:
    plain = _plain(clue)
    return {one.name: plain[one.name] for one in fields(Clue) if plain[one.name] not in (None, "", [], False, "plain")}


def _made(model: type[_Model], data: Mapping[str, Any], **instead: Any) -> _Model:
    return model(**{**data, **instead})


def _point(pair: list[float]) -> LatLon:
    return LatLon(float(pair[0]), float(pair[1]))


def _plain(value: Any) -> Any:
    if isinstance(value, LatLon):
        return [value.lat, value.lon]
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in sorted(value.items())}
    return value
