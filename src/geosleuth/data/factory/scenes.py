"""Scenes as a data set that runs go through: designed on the spot, or made before in a folder."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from geosleuth.bench.run import DataInfo
from geosleuth.bench.sets.model import Card, DataSet, Item
from geosleuth.data.standins.observer import refuse_panorama
from geosleuth.errors import BadInput
from geosleuth.world import Mark, Scene, SceneKind, Split
from geosleuth.world.design import truth_of
from geosleuth.world.world import Noise, open_world

from .attempt import pack_scene


@dataclass(frozen=True, slots=True)
class ScenePicture:
    """A scene to travel, with the file of its picture where that was made before."""

    scene: Scene
    marks: tuple[Mark, ...] = ()
    path: Path | None = None

    @property
    def where(self) -> str:
        """The scene's id."""
        return self.scene.id

    def read(self) -> bytes:
        """The scene, packed.

        Raises:
            BadInput: its picture can't be read.
        """
        if self.path is None:
            return pack_scene(self.scene)
        try:
            return pack_scene(self.scene, self.marks, self.path.read_bytes())
        except OSError as error:
            raise BadInput(f"{self.path}: can't be read: {error.strerror or error}") from error

    def size_bytes(self) -> int | None:
        """Not known before it is read."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneRange:
    """Scenes that are designed as they are needed: so many of one seed, from a number on."""

    count: int
    seed: int = 1
    split: Split = "train"
    kind: SceneKind = "street"
    first: int = 0
    world: int = 1
    noise: Noise = "both"
    regions: tuple[Path, ...] = field(default=(), repr=False)

    def __post_init__(self) -> None:
        """Refuse what no trajectory can be made from.

        Raises:
            BadInput: panoramas are asked for.
        """
        refuse_panorama(self.kind)

    def selection(self) -> dict[str, Any]:
        """Which scenes, in plain values."""
        return {
            "scenes": self.count, "seed": self.seed, "split": self.split, "kind": self.kind, "first": self.first,
            "world": self.world, "noise": self.noise, "regions": [path.name for path in self.regions],
        }  # fmt: skip

    def told(self) -> dict[str, Any]:
        """Which scenes, as cards name it."""
        return {
            "scene seed": self.seed, "first scene": self.first, "count": self.count, "split": self.split,
            "world": self.world,
        }  # fmt: skip

    def data(self) -> DataSet:
        """As a data set."""
        return DataSet(_card(self.count), Path(), self._items)

    def info(self) -> DataInfo:
        """How runs know it again."""
        said = json.dumps(self.selection(), sort_keys=True)
        return DataInfo("world scenes", self.count, hashlib.sha256(said.encode()).hexdigest(), self.selection())

    def _items(self) -> Iterator[Item]:
        from geosleuth.world.design import design_scene

        world = open_world(self.world, self.regions, noise=self.noise)
        for number in range(self.first, self.first + self.count):
            yield _item(design_scene(world, self.seed, number, split=self.split, kind=self.kind))


@dataclass(frozen=True, slots=True)
class SceneFolder:
    """Scenes that ``geosleuth world make`` has drawn; panoramas and tiles are passed over."""

    path: Path
    limit: int | None = None

    def told(self) -> dict[str, Any]:
        """Which scenes, as cards name it."""
        limit = {} if self.limit is None else {"count": self.limit}
        return {"folder": self.path.name, **limit}

    def data(self) -> DataSet:
        """As a data set."""
        return DataSet(_card(None), self.path, self._items)

    def info(self) -> DataInfo:
        """How runs know it again.

        Raises:
            BadInput: the folder holds no scenes.
        """
        digest, count = hashlib.sha256(), 0
        for item in self._items():
            digest.update(item.id.encode() + b"\n")
            count += 1
        if not count:
            raise BadInput(f"{self.path}: holds no street scenes; make some with geosleuth world make")
        return DataInfo("world scenes", count, digest.hexdigest(), {"limit": self.limit})

    def _items(self) -> Iterator[Item]:
        from geosleuth.world.builder import read_scenes

        found = 0
        for made in read_scenes(self.path):
            if made.scene.kind != "street":
                continue
            if self.limit is not None and found >= self.limit:
                return
            found += 1
            yield _item(made.scene, tuple(made.marks), made.path)


Scenes = SceneRange | SceneFolder


def _item(scene: Scene, marks: tuple[Mark, ...] = (), path: Path | None = None) -> Item:
    fields = {"finest": scene.finest or "nothing", "split": scene.split}
    return Item(scene.id, ScenePicture(scene, marks, path), truth_of(scene), fields)


def _card(photos: int | None) -> Card:
    return Card(
        name="world scenes",
        title="Street scenes drawn by geosleuth",
        photos=photos,
        licence="as geosleuth's own output",
        home="docs/world.md",
        get="geosleuth world make",
        layout="made on the spot",
        thresholds_km=(1.0, 25.0, 200.0, 750.0),
    )
