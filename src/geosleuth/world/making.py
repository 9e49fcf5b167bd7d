"""Making scenes in numbers: pictures and what is known of them, in a folder that is a data set.

    FOLDER/images/<id>.jpg    the pictures
    FOLDER/scenes.jsonl       every scene whole, with its marks
    FOLDER/set.jsonl          what `geosleuth bench run --data` opens: picture, truth, fields, boxes
    FOLDER/card.md            what people must know of it
    FOLDER/manifest.json      what it was made from; a folder is continued only from the same

Work that was interrupted goes on where it was; the same words give the same bytes, however many workers there are.
"""

import json
import os
import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from geosleuth import __version__
from geosleuth.bench.lines import byte_lines
from geosleuth.errors import BadInput
from geosleuth.files import lock_file, replacing, write_bytes_atomically, write_text_atomically

from .codec import mark_from_dict, mark_to_dict, scene_from_dict, scene_to_dict
from .design import MIXED_KINDS, design_scene
from .making_card import Tally, card_of
from .making_lines import IMAGES, JOURNAL, SCENES, Lines, picture_path
from .making_rows import set_row
from .making_workers import WorkerEndedError, drawn_by_workers
from .model import Mark, Scene, SceneKind, Split
from .world import World, open_world

FORMAT, VERSION = "geosleuth-scenes", 1
MANIFEST, SET, CARD = "manifest.json", "set.jsonl", "card.md"

KindWish = Literal["street", "panorama", "satellite", "mixed"]


@dataclass(frozen=True, slots=True)
class MadeScene:
    """A scene of a folder: what it is, where its clues stand in the picture, and the picture."""

    scene: Scene
    marks: tuple[Mark, ...]
    path: Path


@dataclass(frozen=True, slots=True)
class Made:
    """What came of it: how many scenes the folder has, and how many of them were there before."""

    folder: Path
    scenes: int
    kept: int


def kind_of(seed: int, number: int, kinds: KindWish) -> SceneKind:
    """The kind of a scene of a set; "mixed" draws it by `MIXED_KINDS`."""
    if kinds != "mixed":
        return kinds
    chance = random.Random(f"kind {seed} {number}")  # noqa: S311 - no secret depends on it
    return chance.choices(list(MIXED_KINDS), list(MIXED_KINDS.values()))[0]


def make_scenes(
    folder: Path,
    world: World,
    *,
    count: int,
    seed: int,
    split: Split,
    kinds: KindWish = "street",
    workers: int = 1,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
) -> Made:
    """Draw scenes 0 to ``count`` into a folder, or the rest of them where the folder was left unfinished or is smaller.

    Args:
        folder: a new or empty one, or one of the same world, seed, split and kinds.
        world: where the scenes stand.
        count: how many.
        seed: another one gives other scenes.
        split: which places and designs may occur.
        kinds: which kind of picture.
        workers: processes that draw at the same time.
        progress: called with how many are done, and of how many.

    Raises:
        BadInput: the folder holds something else, more scenes than wanted, or can't be written to.
    """
    manifest = _manifest(world, seed, split, kinds)
    _claim(folder, manifest, count)
    with _alone(folder):
        return _make(folder, world, manifest, count, (seed, split, kinds), workers, progress)


def _make(
    folder: Path,
    world: World,
    manifest: Mapping[str, Any],
    count: int,
    task: "Task",
    workers: int,
    progress: Callable[[int, int], None],
) -> Made:
    lines = Lines(folder, count)
    kept = len(lines)
    progress(kept, count)
    missing = [number for number in range(count) if number not in lines]
    try:
        # A journal that is still there was never worked into the tables, whatever they say.
        if missing or not (folder / SET).is_file() or (folder / JOURNAL).exists():
            # Closed here, whatever happens: an error on its way up would keep the workers alive.
            with (
                (folder / JOURNAL).open("ab") as journal,
                closing(_drawn(folder, world, missing, task, workers)) as drawn,
            ):
                for number, line in drawn:
                    lines.add(journal, number, line)
                    progress(len(lines), count)
            _finish(folder, manifest, count, lines)
    finally:
        lines.close()
    return Made(folder, count, kept)


def read_scenes(folder: Path) -> Iterator[MadeScene]:
    """The scenes of a folder that was made whole, in order.

    Raises:
        BadInput: there are none, or a line is damaged.
    """
    path = folder / SCENES
    if not path.is_file():
        raise BadInput(f"{folder}: no scenes are here; make some with geosleuth world make --out {folder}")
    with path.open("rb") as stream:
        for line in byte_lines(path, stream.readline, "scene"):
            yield _made_scene(folder, line)


def _made_scene(folder: Path, line: bytes) -> MadeScene:
    try:
        data = json.loads(line)
        marks = tuple(mark_from_dict(mark) for mark in data["marks"])
        return MadeScene(scene_from_dict(data["scene"]), marks, picture_path(folder, data["image"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{folder / SCENES}: a line is damaged; the same geosleuth world make again draws it anew"
        ) from error


def _manifest(world: World, seed: int, split: Split, kinds: KindWish) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "geosleuth": __version__,
        "world": {"seed": world.seed, "noise": world.noise, "regions": [path.name for path in world.regions]},
        "seed": seed,
        "split": split,
        "kinds": kinds,
    }


def _claim(folder: Path, manifest: Mapping[str, Any], count: int) -> None:
    """Make sure that the folder is ours to fill."""
    path = folder / MANIFEST
    if path.is_file():
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
            scenes = int(there.pop("scenes", 0))
        except (ValueError, TypeError, AttributeError):
            raise BadInput(f"{path}: damaged; give another --out, or remove the folder") from None
        for key, value in manifest.items():
            if there.get(key) != value:
                told, wanted = (_in_words(one) for one in (there.get(key), value))
                raise BadInput(f"{folder}: holds scenes of {key} {told}, not {wanted}; give another --out")
        if scenes > count:
            raise BadInput(f"{folder}: holds {scenes} scenes already; ask for as many or more, or give another --out")
        return
    if folder.is_dir() and any(folder.iterdir()):
        raise BadInput(f"{folder}: is not empty and holds no scenes; give a new folder with --out")
    try:
        (folder / IMAGES).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder}: can't be made: {error.strerror or error}") from error
    write_text_atomically(path, json.dumps(manifest, ensure_ascii=False, indent=1) + "\n")


def _in_words(value: Any) -> str:
    """What a manifest says, as people say it; manifests may be anybody's."""
    if not isinstance(value, dict):
        return str(value)[:40]
    regions = ", ".join(str(name) for name in value.get("regions") or ()) or "none"
    return f"{value.get('seed')} (names that repeat: {value.get('noise')}; added regions: {regions})"[:200]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Nobody else draws into the folder meanwhile, as far as the system can see to it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # some systems let nobody open a folder
        handle = None
    try:
        if handle is not None and lock_file(handle) is False:
            raise BadInput(f"{folder}: another process draws into this folder; wait for it, or stop it")
        yield
    finally:
        if handle is not None:
            os.close(handle)


Task = tuple[int, Split, KindWish]


def _drawn(
    folder: Path, world: World, numbers: Sequence[int], task: Task, workers: int
) -> Generator[tuple[int, bytes]]:
    if workers <= 1 or len(numbers) <= 1:
        for number in numbers:
            yield number, draw_line(folder, world, number, task)
        return
    words = (folder, world.seed, world.noise, world.regions, task)
    try:
        with closing(drawn_by_workers(numbers, workers, _open_in_worker, words, _draw_in_worker)) as made:
            yield from made
    except WorkerEndedError as error:
        raise BadInput(
            f"{folder}: a worker was ended, perhaps for want of memory; run again with fewer --workers to go on"
        ) from error


@dataclass(slots=True)
class _Worker:
    """What a process that draws was given."""

    folder: Path
    world: World
    task: Task


_WORKER: list[_Worker] = []


def _open_in_worker(folder: Path, seed: int, noise: Any, regions: tuple[Path, ...], task: Task) -> None:
    import cv2

    # There is a process for every core already: threads of OpenCV would only get in each other's way.
    cv2.setNumThreads(1)
    _WORKER[:] = [_Worker(folder, open_world(seed, regions, noise=noise), task)]


def _draw_in_worker(number: int) -> tuple[int, bytes]:
    one = _WORKER[0]
    return number, draw_line(one.folder, one.world, number, one.task)


def draw_line(folder: Path, world: World, number: int, task: Task) -> bytes:
    """Design and draw one scene, write its picture, and return its line."""
    from .drawing import draw_scene

    seed, split, kinds = task
    scene = design_scene(world, seed, number, split=split, kind=kind_of(seed, number, kinds))
    drawing = draw_scene(scene)
    picture = drawing.jpeg()
    name = f"{IMAGES}/{scene.id}.jpg"
    write_bytes_atomically(folder / name, picture)
    data = {
        "number": number,
        "image": name,
        "sha256": sha256(picture).hexdigest(),
        "scene": scene_to_dict(scene),
        "marks": [mark_to_dict(mark) for mark in drawing.marks],
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def _finish(folder: Path, manifest: Mapping[str, Any], count: int, lines: Lines) -> None:
    """Write the tables, in order; the journal goes last, so that nothing is lost in between."""
    tally = Tally()
    with (
        replacing(folder / SCENES) as scenes, replacing(folder / SET) as rows,
        scenes.open("wb") as scenes_stream, rows.open("wb") as rows_stream,
    ):  # fmt: skip
        for number in range(count):
            line = lines.line(number)
            made = _made_scene(folder, line)
            tally.add(made.scene)
            row = json.dumps(set_row(made.scene, made.marks, made.path.name), ensure_ascii=False)
            scenes_stream.write(line)
            rows_stream.write(f"{row}\n".encode())
    write_text_atomically(folder / CARD, card_of(manifest, tally))
    whole = {**manifest, "scenes": count}
    write_text_atomically(folder / MANIFEST, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    (folder / JOURNAL).unlink()
