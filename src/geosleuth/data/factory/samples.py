"""What a run of the factory has made, for the store: what is kept as samples, the rest with why it is not."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from geosleuth.agent import read_trajectory
from geosleuth.bench.run import RunFolder
from geosleuth.data.model import Made, Rejected, Sample
from geosleuth.data.rejection import Tally
from geosleuth.errors import BadInput
from geosleuth.geo import LatLon
from geosleuth.score import Truth

from .attempt import FIRST, META, PHOTO, beside

_BESIDE = ("kept", "reasons", "detail", "truth", "scene", "split")
_NUMBERS = re.compile(r"(\d+)")


def made_in(run: Path) -> Iterator[Made]:
    """Everything that a run has finished, in the order of its scenes, one at a time.

    Raises:
        BadInput: it is no run of the factory, or a file of it is missing or damaged.
    """
    with RunFolder.read(run) as folder:
        source = str(folder.manifest.settings.get("kind", ""))
        for key, trajectory in _finished(folder):
            meta = _meta(trajectory)
            yield _sample(key, trajectory, meta, source) if meta["kept"] else _rejected(key, meta, source)


def tally_in(run: Path) -> Tally:
    """What a run has kept, and why it has not kept the rest.

    Raises:
        BadInput: it is no run of the factory, or a file of it is missing or damaged.
    """
    tally = Tally()
    with RunFolder.read(run) as folder:
        for _, trajectory in _finished(folder):
            tally.add(_meta(trajectory))
    return tally


def photo_of(trajectory: Path) -> bytes:
    """The picture that a kept trajectory is about, as it was looked at.

    Raises:
        BadInput: it can't be read.
    """
    original = beside(trajectory, PHOTO)
    return _read(original if original.exists() else beside(trajectory, FIRST))


def kept_files(run: Path) -> Iterator[Path]:
    """The files of the trajectories that a run keeps, in the order of its scenes.

    Raises:
        BadInput: it is no run of the factory, or a file of it is missing or damaged.
    """
    with RunFolder.read(run) as folder:
        for _, trajectory in _finished(folder):
            if _meta(trajectory)["kept"]:
                yield trajectory


def _finished(folder: RunFolder) -> Iterator[tuple[str, Path]]:
    newest = {one.id: one for one in folder.tries() if one.outcome == "answered"}
    for key in sorted(newest, key=_natural):
        yield key, folder.trajectory(newest[key].image, newest[key].number)


def _sample(key: str, path: Path, meta: Mapping[str, Any], source: str) -> Sample:
    trajectory = read_trajectory(path)
    images = {image.handle: _read(beside(path, f"{image.handle}.jpg")) for image in trajectory.images}
    return Sample(
        key=key,
        trajectory=trajectory,
        images=images,
        scene=meta["scene"],
        source=source,
        split=meta["split"],
        truth=_truth(meta["truth"]),
        meta={name: value for name, value in meta.items() if name not in _BESIDE},
    )


def _rejected(key: str, meta: Mapping[str, Any], source: str) -> Rejected:
    reasons = meta["reasons"]
    rest = {name: value for name, value in meta.items() if name not in _BESIDE}
    return Rejected(
        key=key,
        scene=meta["scene"],
        source=source,
        reason=reasons[0],
        detail=meta["detail"],
        meta={**rest, "reasons": reasons},
    )


def _truth(plain: Mapping[str, Any] | None) -> Truth | None:
    if plain is None:
        return None
    return Truth(LatLon(*plain["point"]), plain["country"], plain["region"], plain["city"])


def _meta(trajectory: Path) -> dict[str, Any]:
    path = beside(trajectory, META)
    try:
        found = json.loads(_read(path))
    except ValueError as error:
        raise BadInput(f"{path}: this is not JSON; make the run again") from error
    if not isinstance(found, dict) or not {"kept", "scene", "reasons"} <= found.keys():
        raise BadInput(f"{path}: this is not what the factory writes; make the run again")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}; make the run again") from error


def _natural(key: str) -> tuple[tuple[int, int | str], ...]:
    """A key by which scene-9 comes before scene-10."""
    return tuple((0, int(part)) if part.isdigit() else (1, part) for part in _NUMBERS.split(key))
