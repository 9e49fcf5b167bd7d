"""One trial of the factory: its scene, one trajectory without timestamps, its pictures and verdict.

All output depends only on the settings and the input, so that a run that was killed and resumed has the same bytes as
one that was not.
"""

import asyncio
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal, Protocol

from geosleuth.agent import Event, Spent, Trajectory, write_trajectory
from geosleuth.agent.locate import Finding
from geosleuth.agent.replay import without_durations
from geosleuth.answer import Answer
from geosleuth.geo import LatLon
from geosleuth.lab.bench.run import Attempted, DataInfo, Job
from geosleuth.lab.bench.sets import build_selection, fingerprint, open_set, subset
from geosleuth.lab.bench.sets.dataset import Card, DataSet, Item, refuse_test
from geosleuth.lab.scenes import Mark, Scene, SceneKind, Split
from geosleuth.lab.scenes.design import build_truth
from geosleuth.lab.scenes.scene import mark_from_dict, mark_to_dict, scene_from_dict, scene_to_dict
from geosleuth.lab.scenes.world import Noise, open_world
from geosleuth.lab.score import Truth
from geosleuth.lab.traces.scripted import refuse_panorama
from geosleuth.lab.traces.spotagent import Verdict
from geosleuth.photo import Album, Claims, OpenedPhoto, encode, first_view, open_photo
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_bytes_atomically, write_text_atomically

Kind = Literal["spotagent", "geovista", "geoagent", "imported"]
"""The synthesis, by its name in stores."""

# Timestamp of all generated trajectories: when they were generated says nothing about them.
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
META, PHOTO, FIRST = "meta.json", "photo.jpg", "image-1.jpg"
_JPEG_QUALITY = 88
_PHOTO_QUALITY = 92


@dataclass(frozen=True, slots=True)
class TrialResult:
    """The result of one trial: the run with its album, the verdict, and further facts.

    ``photo`` is the picture's file as it was shown. ``truth`` is None if the place is unknown.
    """

    finding: Finding = field(repr=False)
    photo: bytes = field(repr=False)
    scene: str
    split: str
    verdict: Verdict
    truth: Truth | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


class Maker(Protocol):
    """Makes one trajectory from packed input, see `geosleuth.lab.traces.factory.trial`."""

    async def __call__(self, content: bytes) -> TrialResult:
        """Make a trajectory.

        Raises:
            UserError: the set-up is invalid, and the run must stop.
        """
        ...

    async def aclose(self) -> None:
        """Close models and connections."""
        ...


def timeless(trajectory: Trajectory, id: str) -> Trajectory:  # noqa: A002  (the trajectory's own word)
    """Return the same run under a given id, with every time and duration at zero."""
    events = tuple(Event(event.index, 0.0, without_durations(event.body)) for event in trajectory.events)
    return Trajectory(events, id, EPOCH, trajectory.geosleuth)


def compute_id(settings: Mapping[str, Any], name: str) -> str:
    """Return an id that depends only on the settings and the name."""
    document = json.dumps([settings, name], sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(document.encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class FactoryReady:
    """A maker with everything loaded; ``settings`` are all that determines what it makes."""

    maker: Maker
    settings: Mapping[str, Any] = field(repr=False)

    async def attempt(self, job: Job, keep_in: Path) -> Attempted:
        """Make a trajectory, judge it and store it; pictures are stored if it is kept.

        Raises:
            UserError: the run can't continue.
        """
        try:
            worked = await self.maker(job.content)
        except BadInput as error:
            return Attempted("failed", Answer(), "nobody", "error", Spent(), str(error))
        trajectory = timeless(worked.finding.trajectory, compute_id(self.settings, job.id))
        await asyncio.to_thread(_write_trial, worked, trajectory, keep_in)
        return _build_attempt(trajectory)

    async def aclose(self) -> None:
        """Close models and connections."""
        await self.maker.aclose()


def beside(trajectory: Path, what: str) -> Path:
    """Return the path of another file of a trial, beside its trajectory."""
    return trajectory.with_name(f"{trajectory.stem}.{what}")


def _write_trial(worked: TrialResult, trajectory: Trajectory, path: Path) -> None:
    """Write a trial's files, the trajectory last: it marks the trial as complete."""
    album = worked.finding.album
    if worked.verdict.is_accepted and album is not None:
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
    """Return every picture of a run as it was shown; a photo that was shown whole as its own file."""
    found: dict[str, bytes] = {}
    for image in trajectory.images:
        whole = image.photo == 1 and image.box_in_original == (0, 0, *image.size)
        found[image.handle] = photo if whole else encode(album[image.handle], quality=_JPEG_QUALITY)
    return found


def _meta(worked: TrialResult, trajectory: Trajectory) -> dict[str, Any]:
    truth, verdict = worked.truth, worked.verdict
    return {
        "scene": worked.scene,
        "split": worked.split,
        "kept": verdict.is_accepted,
        "reasons": list(verdict.reasons),
        "detail": verdict.detail,
        "error_km": verdict.error_km,
        "tools": [observation.name for observation in trajectory.observations],
        "truth": None if truth is None else {**asdict(truth), "point": [truth.point.lat, truth.point.lon]},
        **worked.meta,
    }


def _build_attempt(trajectory: Trajectory) -> Attempted:
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
class TrialDraw:
    """A scene, its marks in the picture, and the picture as a JPEG file."""

    scene: Scene
    marks: tuple[Mark, ...]
    jpeg: bytes = field(repr=False)


def pack(head: Mapping[str, Any], picture: bytes = b"") -> bytes:
    """Pack a header and a picture into bytes."""
    return json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" + picture


def unpack(content: bytes) -> tuple[dict[str, Any], bytes]:
    """Unpack what `pack` packed.

    Raises:
        BadInput: it is something else.
    """
    line, _, picture = content.partition(b"\n")
    try:
        head = json.loads(line)
    except ValueError as error:
        raise BadInput("not a packed trial") from error
    if not isinstance(head, dict):
        raise BadInput("not a packed trial")
    return head, picture


def pack_scene(scene: Scene, marks: Sequence[Mark] = (), jpeg: bytes = b"") -> bytes:
    """Pack a scene; without its picture, the receiver draws it."""
    return pack({"scene": scene_to_dict(scene), "marks": [mark_to_dict(mark) for mark in marks]}, jpeg)


def load_drawn(content: bytes) -> TrialDraw:
    """Return the scene with its picture, drawn now if it came without.

    Raises:
        BadInput: it is not a scene.
    """
    head, jpeg = unpack(content)
    scene = scene_from_dict(head["scene"])
    if jpeg:
        return TrialDraw(scene, tuple(map(mark_from_dict, head["marks"])), jpeg)
    from geosleuth.lab.scenes.drawing.picture import draw_scene

    drawing = draw_scene(scene)
    return TrialDraw(scene, tuple(drawing.marks), drawing.jpeg())


def without_metadata(opened: OpenedPhoto) -> tuple[OpenedPhoto, bytes]:
    """Return the photo without its metadata, and as a JPEG file that has none either."""
    bare = Claims(opened.claims.format, opened.claims.file_bytes, opened.claims.sha256, opened.claims.size_px)
    photo = OpenedPhoto(opened.photo, bare)
    whole = first_view(photo.photo, max_pixels=photo.photo.size[0] * photo.photo.size[1])
    return photo, encode(whole, quality=_PHOTO_QUALITY)


@dataclass(frozen=True, slots=True)
class Subject:
    """Subject of one trial: a drawn scene, or a photo of a data set, whose ``drawn`` is None.

    ``content`` is the picture's file: a photo's is written anew from its pixels, and holds no metadata.
    """

    id: str
    split: str
    truth: Truth = field(repr=False)
    photo: OpenedPhoto = field(repr=False)
    content: bytes = field(repr=False)
    drawn: TrialDraw | None = None

    @property
    def scene(self) -> Scene:
        """Return the drawn scene.

        Raises:
            BadInput: it is a photo.
        """
        if self.drawn is None:
            raise BadInput("stand-ins read the clue boxes of drawn scenes; name a model that looks at photos")
        return self.drawn.scene

    def about(self) -> Mapping[str, Any]:
        """Return the facts that are stored beside the trajectory."""
        if self.drawn is None:
            return {"finest": "not known: a photo", "country": self.truth.country}
        scene = self.drawn.scene
        return {
            "finest": scene.finest,
            "needs_zoom": scene.needs_zoom,
            "locatability": scene.locatability,
            "country": scene.spot.country,
            "misleading": sum(clue.misleading for clue in scene.clues),
            **({"needs_page": True} if scene.needs_page else {}),
        }


def load_subject(content: bytes) -> Subject:
    """Return what a trial is about, its picture opened; a scene that came without one is drawn now.

    Raises:
        BadInput: it is neither scene nor photo, is a drawn panorama, or can't be opened.
    """
    head, picture = unpack(content)
    if "photo" in head:
        bare, content = without_metadata(open_photo(picture))
        point = LatLon(*head["truth"].pop("point"))
        opened = open_photo(content, kind=bare.photo.kind)
        return Subject(head["photo"], head["split"], Truth(point, **head["truth"]), opened, content)
    drawn = load_drawn(content)
    refuse_panorama(drawn.scene.kind)
    photo = open_photo(drawn.jpeg)
    return Subject(drawn.scene.id, drawn.scene.split, build_truth(drawn.scene), photo, drawn.jpeg, drawn)


@dataclass(frozen=True, slots=True)
class PackedPhoto:
    """A photo of a data set, packed with its truth."""

    item: Item
    key: str
    split: str

    @property
    def where(self) -> str:
        """Return its location."""
        return self.item.picture.where

    def read(self) -> bytes:
        """Return the photo, packed.

        Raises:
            BadInput: it can't be read.
        """
        truth = self.item.truth
        told = {**asdict(truth), "point": [truth.point.lat, truth.point.lon]}
        return pack({"photo": self.key, "split": self.split, "truth": told}, self.item.picture.read())

    def size_bytes(self) -> int | None:
        """Return the size of its file."""
        return self.item.picture.size_bytes()


@dataclass(frozen=True, slots=True)
class PhotoSet:
    """Photos of a data set on disk, as `geosleuth.lab.bench.sets.open_set` names it; test parts are refused."""

    spec: str
    limit: int | None = None
    split: str = "train"

    def card_entry(self) -> dict[str, Any]:
        """Return the selection as cards show it."""
        limit = {} if self.limit is None else {"count": self.limit}
        return {"data": self._set().card.name, "split": self.split, **limit}

    def data(self) -> DataSet:
        """Return the photos as a data set whose items are packed trials.

        Raises:
            BadInput: there is no such set, or its photos are for testing.
        """
        found = self._set()
        return found.map_items(lambda item: self._pack_item(found.card, item), found.card)

    def info(self) -> DataInfo:
        """Return the identity by which runs recognise the data.

        Raises:
            BadInput: there is no such set, it is empty, or its photos are for testing.
        """
        found = self._set()
        count, sha256 = fingerprint(found)
        if not count:
            raise BadInput(f"{self.spec}: holds no photo with a known place")
        return DataInfo(found.card.name, count, sha256, build_selection(self.limit))

    def _set(self) -> DataSet:
        return subset(open_set(self.spec), limit=self.limit)

    def _pack_item(self, card: Card, item: Item) -> Item:
        refuse_test(card, item)
        key = f"photo-{hashlib.sha256(f'{card.name} {item.id}'.encode()).hexdigest()[:16]}"
        return replace(item, id=key, picture=PackedPhoto(item, key, self.split))


@dataclass(frozen=True, slots=True)
class ScenePicture:
    """A scene with the file of its picture, if that was drawn before."""

    scene: Scene
    marks: tuple[Mark, ...] = ()
    path: Path | None = None

    @property
    def where(self) -> str:
        """Return the scene's id."""
        return self.scene.id

    def read(self) -> bytes:
        """Return the scene, packed.

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
        """Return None: the size is not known before reading."""
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneRange:
    """A range of scenes of one seed, designed on demand."""

    count: int
    seed: int = 1
    split: Split = "train"
    kind: SceneKind = "street"
    first: int = 0
    world: int = 1
    noise: Noise = "both"
    regions: tuple[Path, ...] = field(default=(), repr=False)
    pages: bool = False

    def __post_init__(self) -> None:
        """Check that trajectories can be made from these scenes.

        Raises:
            BadInput: the scenes are panoramas.
        """
        refuse_panorama(self.kind)

    def selection(self) -> dict[str, Any]:
        """Return the selection as plain values."""
        return {
            "scenes": self.count, "seed": self.seed, "split": self.split, "kind": self.kind, "first": self.first,
            "world": self.world, "noise": self.noise, "regions": [path.name for path in self.regions],
            **({"pages": True} if self.pages else {}),
        }  # fmt: skip

    def card_entry(self) -> dict[str, Any]:
        """Return the selection as cards show it."""
        return {
            "scene seed": self.seed, "first scene": self.first, "count": self.count, "split": self.split,
            "world": self.world, **({"pages": True} if self.pages else {}),
        }  # fmt: skip

    def data(self) -> DataSet:
        """Return the scenes as a data set."""
        return DataSet(_card(self.count), Path(), self._items)

    def info(self) -> DataInfo:
        """Return the identity by which runs recognise the data."""
        document = json.dumps(self.selection(), sort_keys=True)
        return DataInfo("world scenes", self.count, hashlib.sha256(document.encode()).hexdigest(), self.selection())

    def _items(self) -> Iterator[Item]:
        from geosleuth.lab.scenes.design import design_scene

        world = open_world(self.world, self.regions, noise=self.noise, pages=self.pages)
        for number in range(self.first, self.first + self.count):
            yield _item(design_scene(world, self.seed, number, split=self.split, kind=self.kind))


@dataclass(frozen=True, slots=True)
class SceneFolder:
    """Scenes drawn by ``geosleuth world make``; panoramas and tiles are skipped."""

    path: Path
    limit: int | None = None

    def card_entry(self) -> dict[str, Any]:
        """Return the selection as cards show it."""
        limit = {} if self.limit is None else {"count": self.limit}
        return {"folder": self.path.name, **limit}

    def data(self) -> DataSet:
        """Return the scenes as a data set."""
        return DataSet(_card(None), self.path, self._items)

    def info(self) -> DataInfo:
        """Return the identity by which runs recognise the data.

        Raises:
            BadInput: the folder has no scenes.
        """
        digest, count = hashlib.sha256(), 0
        for item in self._items():
            digest.update(item.id.encode() + b"\n")
            count += 1
        if not count:
            raise BadInput(f"{self.path}: no street scenes found; make some with geosleuth world make")
        return DataInfo("world scenes", count, digest.hexdigest(), {"limit": self.limit})

    def _items(self) -> Iterator[Item]:
        from geosleuth.lab.scenes.builder import read_scenes

        found = 0
        for made in read_scenes(self.path):
            if made.scene.kind != "street":
                continue
            if self.limit is not None and found >= self.limit:
                return
            found += 1
            yield _item(made.scene, tuple(made.marks), made.path)


Scenes = SceneRange | SceneFolder | PhotoSet


def _item(scene: Scene, marks: tuple[Mark, ...] = (), path: Path | None = None) -> Item:
    fields = {"finest": scene.finest or "nothing", "split": scene.split}
    return Item(scene.id, ScenePicture(scene, marks, path), build_truth(scene), fields)


def _card(photos: int | None) -> Card:
    return Card(
        name="world scenes",
        title="Street scenes drawn by geosleuth",
        photos=photos,
        licence="as geosleuth's own output",
        home="docs/background/scenes.md",
        get="geosleuth world make",
        layout="made on the spot",
        thresholds_km=(1.0, 25.0, 200.0, 750.0),
    )
