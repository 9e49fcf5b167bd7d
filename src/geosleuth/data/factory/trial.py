"""A try of the factory: the scene it is made from, one trajectory without the clock, its pictures and verdict.

Everything that it writes hangs on the settings and on what it was given, so that a run that was killed and taken up
again holds the same bytes as one that was not.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from geosleuth.agent import Event, Spent, Trajectory, write_trajectory
from geosleuth.agent.locate import Finding
from geosleuth.agent.replay import without_durations
from geosleuth.answer import Answer
from geosleuth.bench.run import Attempted, DataInfo, Job
from geosleuth.bench.sets.model import Card, DataSet, Item
from geosleuth.data.spotagent import Verdict
from geosleuth.data.standins.observer import refuse_panorama
from geosleuth.errors import BadInput
from geosleuth.files import write_bytes_atomically, write_text_atomically
from geosleuth.photo import Album, encode
from geosleuth.score import Truth
from geosleuth.world import Mark, Scene, SceneKind, Split
from geosleuth.world.design import truth_of
from geosleuth.world.model import mark_from_dict, mark_to_dict, scene_from_dict, scene_to_dict
from geosleuth.world.world import Noise, open_world

Kind = Literal["spotagent", "geovista", "geoagent", "imported"]
"""Which synthesis: the word that stores know it by."""


@dataclass(frozen=True, slots=True)
class Worked:
    """What came of one try: the run with its album, what is thought of it, and what else is to be known.

    ``photo`` is the picture's file as it was looked at. ``truth`` is None where nobody knows the place.
    """

    finding: Finding = field(repr=False)
    photo: bytes = field(repr=False)
    scene: str
    split: str
    verdict: Verdict
    truth: Truth | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


class Maker(Protocol):
    """Makes one trajectory from what it is given, see `geosleuth.data.factory.trial`."""

    async def __call__(self, content: bytes) -> Worked:
        """Make it.

        Raises:
            UserError: something must be mended before it makes sense to go on.
        """
        ...

    async def aclose(self) -> None:
        """Let go of models and connections."""
        ...


EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""What made trajectories are stamped with: when they were made says nothing about them."""


def timeless(trajectory: Trajectory, id: str) -> Trajectory:  # noqa: A002  (the trajectory's own word)
    """The same run under a given id, with every time and duration at zero."""
    events = tuple(Event(event.index, 0.0, without_durations(event.body)) for event in trajectory.events)
    return Trajectory(events, id, EPOCH, trajectory.geosleuth)


def id_of(settings: Mapping[str, Any], name: str) -> str:
    """An id that hangs on what was made of what, and on nothing else."""
    said = json.dumps([settings, name], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(said.encode()).hexdigest()[:16]


META, PHOTO, FIRST = "meta.json", "photo.jpg", "image-1.jpg"
_JPEG_QUALITY = 88


@dataclass(frozen=True, slots=True)
class FactoryAttempt:
    """Makes one try; ``settings`` are all that decides what comes of it."""

    maker: Maker
    settings: Mapping[str, Any] = field(repr=False)

    async def __call__(self, job: Job, keep_in: Path) -> Attempted:
        """Make a trajectory, judge it, keep it; pictures are kept where it is worth keeping.

        Raises:
            UserError: the run can't go on.
        """
        try:
            worked = await self.maker(job.content)
        except BadInput as error:
            return Attempted("failed", Answer(), "nobody", "error", Spent(), str(error))
        trajectory = timeless(worked.finding.trajectory, id_of(self.settings, job.id))
        await asyncio.to_thread(_keep, worked, trajectory, keep_in)
        return _attempted(trajectory)


@dataclass(frozen=True, slots=True)
class FactoryReady:
    """An attempt, and the maker that must be closed after it."""

    attempt: FactoryAttempt

    async def aclose(self) -> None:
        """Let go of models and connections."""
        await self.attempt.maker.aclose()


def beside(trajectory: Path, what: str) -> Path:
    """A file of a try beside its trajectory."""
    return trajectory.with_name(f"{trajectory.stem}.{what}")


def _keep(worked: Worked, trajectory: Trajectory, path: Path) -> None:
    """The trajectory last: a try without it never was."""
    album = worked.finding.album
    if worked.verdict.kept and album is not None:
        shown = pictures(trajectory, album, worked.photo)
        for handle, content in shown.items():
            write_bytes_atomically(beside(path, f"{handle}.jpg"), content)
        if worked.photo not in shown.values():
            write_bytes_atomically(beside(path, PHOTO), worked.photo)
    write_text_atomically(
        beside(path, META), json.dumps(_meta(worked, trajectory), indent=1, ensure_ascii=False) + "\n"
    )
    write_trajectory(path, trajectory)


def pictures(trajectory: Trajectory, album: Album, photo: bytes) -> dict[str, bytes]:
    """Every picture of a run as it was shown; a photo that was shown whole as the file that it is."""
    found: dict[str, bytes] = {}
    for image in trajectory.images:
        whole = image.photo == 1 and image.box_in_original == (0, 0, *image.size)
        found[image.handle] = photo if whole else encode(album[image.handle], quality=_JPEG_QUALITY)
    return found


def _meta(worked: Worked, trajectory: Trajectory) -> dict[str, Any]:
    truth, verdict = worked.truth, worked.verdict
    return {
        "scene": worked.scene,
        "split": worked.split,
        "kept": verdict.kept,
        "reasons": list(verdict.reasons),
        "detail": verdict.detail,
        "error_km": verdict.error_km,
        "tools": [one.name for one in trajectory.observations],
        "truth": None if truth is None else {**asdict(truth), "point": [truth.point.lat, truth.point.lon]},
        **worked.meta,
    }


def _attempted(trajectory: Trajectory) -> Attempted:
    answered, ended = trajectory.answered, trajectory.ended
    reason = ended.reason if ended else "error"
    trouble = ended.trouble if ended else "broken off"
    is_broken = reason in ("service", "cancelled", "error")
    return Attempted(
        outcome="failed" if is_broken else "answered",
        answer=trajectory.answer or Answer(),
        by=answered.by if answered else "nobody",
        reason=reason,
        spent=ended.spent if ended else Spent(),
        trouble=trouble,
        host=trouble.partition(": ")[0] if reason == "service" and trouble else None,
    )


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
