"""Build scenes in numbers: pictures, rows, journal and card, in a folder that is a data set.

    FOLDER/images/<id>.jpg    the pictures
    FOLDER/scenes.jsonl       every scene whole, with its marks
    FOLDER/set.jsonl          what `geosleuth bench run --data` opens: picture, truth, fields, boxes
    FOLDER/card.md            what people must know of it
    FOLDER/manifest.json      what it was made from; a folder is continued only from the same

Interrupted work resumes; the same options give the same bytes, with any number of workers.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO, Literal

from geosleuth import __version__
from geosleuth.atlas.regions.workers import worker_pool
from geosleuth.lab.bench.makers.locatability import TAG_FIELDS, TAGS
from geosleuth.names import country_name
from geosleuth.support.errors import BadInput
from geosleuth.support.files import byte_lines, lock_file, replacing, write_bytes_atomically, write_text_atomically

from .design import MIXED_KINDS, design_scene
from .scene import Mark, Scene, SceneKind, Split, mark_from_dict, mark_to_dict, scene_from_dict, scene_to_dict
from .world import World, open_world

_COUNTRIES_SHOWN = 20

SCENES, JOURNAL, IMAGES = "scenes.jsonl", "unfinished.jsonl", "images"
FORMAT, VERSION = "geosleuth-scenes", 1
MANIFEST, SET, CARD = "manifest.json", "set.jsonl", "card.md"
KindWish = Literal["street", "panorama", "mixed"]
Task = tuple[int, Split, KindWish]


@dataclass(slots=True)
class Tally:
    """Counts over scenes as they pass."""

    total: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    tells: Counter[str] = field(default_factory=Counter)
    countries: Counter[str] = field(default_factory=Counter)
    odd: Counter[str] = field(default_factory=Counter)

    def add(self, scene: Scene) -> None:
        """Count one more."""
        self.total += 1
        self.kinds[scene.kind] += 1
        self.tells[scene.finest or "nothing"] += 1
        self.countries[scene.spot.country] += 1
        self.odd["zoom"] += scene.needs_zoom
        self.odd["misleading"] += any(clue.misleading for clue in scene.clues)
        self.odd["hidden"] += any(clue.visibility == "hidden" for clue in scene.clues)
        self.odd["page"] += scene.needs_page


def format_card(manifest: Mapping[str, Any], tally: Tally) -> str:
    """Return the card as Markdown; every figure is counted from the scenes."""
    total, countries = tally.total, tally.countries
    world = manifest["world"]
    largest = _largest(countries, _COUNTRIES_SHOWN)
    shown = ", ".join(f"{country_name(code) or code} {number}" for code, number in largest)
    more = len(countries) - _COUNTRIES_SHOWN
    rows = [
        ("tell the precise place", tally.tells["precise"]),
        ("tell the region at finest", tally.tells["region"]),
        ("tell the country at finest", tally.tells["country"]),
        ("tell nothing", tally.tells["nothing"]),
        ("need zoom", tally.odd["zoom"]),
        ("mislead", tally.odd["misleading"]),
        ("hide something", tally.odd["hidden"]),
        *([("need a web page", tally.odd["page"])] if world.get("pages") else []),
    ]
    table = "\n".join(f"| {what} | {number} | {number / total:.1%} |" for what, number in rows) if total else ""
    kinds = ", ".join(f"{kind} {number}" for kind, number in _largest(tally.kinds, 3))
    return f"""# {total} drawn scenes, {manifest["split"]}

Pictures that geosleuth drew; no photos. Towns, coordinates, countries, climate and the sun are real. Streets,
businesses, telephone numbers and addresses are made up (seed {world["seed"]}), unless an added region brought them
({", ".join(world["regions"]) or "none did"}). They stand in the world's map layer, not in any real map.

Made with seed {manifest["seed"]}, kinds "{manifest["kinds"]}", names that repeat: {world["noise"]}.
The same words give the same bytes.

Kinds: {kinds}.

| scenes that | number | share |
| --- | --- | --- |
{table}

{len(countries)} countries: {shown}{f" and {more} more" if more > 0 else ""}.

Train and held-out scenes share no square of one degree and no design of a board, and use different halves of the lists
of words and of misleading things. Train on the one, measure on the other.

What drawn scenes can't show: how real photos look. A figure on these says how well clues are read, searched and
weighed, and nothing about photos.
"""


def _largest(counted: Counter[str], count: int) -> list[tuple[str, int]]:
    """Return the most frequent entries, ties in order of name."""
    return sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:count]


class Lines:
    """Scenes that a folder holds: the finished table, and the journal of scenes drawn since."""

    def __init__(self, folder: Path, count: int) -> None:
        """Look through both files for scenes below ``count`` whose pictures are whole."""
        self._folder = folder
        self._places: dict[int, tuple[str, int, int]] = {}
        self._open: dict[str, BinaryIO] = {}
        for name in (SCENES, JOURNAL):
            self._look_through(name, count)

    def __len__(self) -> int:
        """Return the number of scenes."""
        return len(self._places)

    def __contains__(self, number: int) -> bool:
        """Return whether a scene exists."""
        return number in self._places

    def add(self, journal: BinaryIO, number: int, line: bytes) -> None:
        """Write a line to the journal, open at its end."""
        place = (JOURNAL, journal.tell(), len(line))
        journal.write(line)
        journal.flush()
        self._places[number] = place

    def line(self, number: int) -> bytes:
        """Return the line of a scene that is there."""
        name, start, length = self._places[number]
        if name not in self._open:
            self._open[name] = (self._folder / name).open("rb")
        self._open[name].seek(start)
        return self._open[name].read(length)

    def close(self) -> None:
        """Let go of the files."""
        for stream in self._open.values():
            stream.close()
        self._open.clear()

    def _look_through(self, name: str, count: int) -> None:
        path = self._folder / name
        if not path.is_file():
            return
        start = 0
        with path.open("rb") as stream:
            for line in byte_lines(path, stream.readline, "scene"):
                if not line.endswith(b"\n"):
                    break
                number = self._number_of_whole(line)
                if number is not None and number < count:
                    self._places[number] = (name, start, len(line))
                start += len(line)
        if name == JOURNAL and start < path.stat().st_size:
            _cut(path, start)

    def _number_of_whole(self, line: bytes) -> int | None:
        """Return the number of a scene that is readable and whose picture is intact; else None."""
        try:
            data = json.loads(line)
            scene_from_dict(data["scene"])
            for mark in data["marks"]:
                mark_from_dict(mark)
            picture = picture_path(self._folder, data["image"]).read_bytes()
            return int(data["number"]) if sha256(picture).hexdigest() == data["sha256"] else None
        except (ValueError, KeyError, TypeError, OSError):
            return None


def picture_path(folder: Path, name: str) -> Path:
    """Return the path of the picture that a line names; a line may name nothing outside of its folder.

    Raises:
        ValueError: it would lie elsewhere.
    """
    below, _, file = str(name).partition("/")
    if below != IMAGES or file in ("", ".", "..") or {"/", "\\", "\0"} & set(file):
        raise ValueError(f"no picture of this folder is called {str(name)[:60]!r}")
    return folder / IMAGES / file


def _cut(path: Path, length: int) -> None:
    """Remove an incomplete last line: its writer was killed, and it never counted."""
    with path.open("rb") as stream, replacing(path) as neighbour, neighbour.open("wb") as shorter:
        shorter.write(stream.read(length))


def set_row(scene: Scene, marks: Sequence[Mark], file_name: str) -> dict[str, Any]:
    """Return a scene's row: picture, truth, fields to slice by, and boxes that a run may hide."""
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
        **({"needs_page": "yes"} if scene.needs_page else {}),
        "layout": scene.look.layout,
        "weather": scene.sky.weather,
        "season": scene.sky.season,
        "locatability": scene.locatability,
        **{field: scene.tags.get(tag, "") for field, tag in zip(TAG_FIELDS, TAGS, strict=True)},
    }
    boxes = [_convert_mark(mark, scene.size) for mark in marks if _is_inside_picture(mark, scene.size)]
    return row | ({"boxes": boxes} if boxes else {})


def _word(*, is_so: bool) -> str:
    return "yes" if is_so else "no"


def _is_inside_picture(mark: Mark, size: tuple[int, int]) -> bool:
    left, top, right, bottom = mark.box
    return left < right and top < bottom and left < size[0] and top < size[1] and right > 0 and bottom > 0


def _convert_mark(mark: Mark, size: tuple[int, int]) -> dict[str, Any]:
    kind = "clue" if mark.line is None else "text"
    return {"kind": kind, "box": list(mark.box), "size": list(size)}


@dataclass(frozen=True, slots=True)
class MadeScene:
    """A scene of a folder: what it is, where its clues stand in the picture, and the picture."""

    scene: Scene
    marks: tuple[Mark, ...]
    path: Path


@dataclass(frozen=True, slots=True)
class Made:
    """Result of a build: the number of scenes in the folder, and how many of them were there before."""

    folder: Path
    scenes: int
    kept: int


def choose_kind(seed: int, number: int, kinds: KindWish) -> SceneKind:
    """Return the kind of a scene of a set; "mixed" draws it by `MIXED_KINDS`."""
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
        # A journal that is still there was never worked into the tables, even if these look complete.
        if missing or not (folder / SET).is_file() or (folder / JOURNAL).exists():
            # Closed here in any case: an error on its way up would keep the workers alive.
            with (
                (folder / JOURNAL).open("ab") as journal,
                closing(_draw_scenes(folder, world, missing, task, workers)) as drawn,
            ):
                for number, line in drawn:
                    lines.add(journal, number, line)
                    progress(len(lines), count)
            _finish(folder, manifest, count, lines)
    finally:
        lines.close()
    return Made(folder, count, kept)


def read_scenes(folder: Path) -> Iterator[MadeScene]:
    """Read the scenes of a complete folder, in order.

    Raises:
        BadInput: there are none, or a line is damaged.
    """
    path = folder / SCENES
    if not path.is_file():
        raise BadInput(f"{folder}: no scenes are here; make some with geosleuth world make --out {folder}")
    with path.open("rb") as stream:
        for line in byte_lines(path, stream.readline, "scene"):
            yield _parse_made_scene(folder, line)


def _parse_made_scene(folder: Path, line: bytes) -> MadeScene:
    try:
        data = json.loads(line)
        marks = tuple(mark_from_dict(mark) for mark in data["marks"])
        return MadeScene(scene_from_dict(data["scene"]), marks, picture_path(folder, data["image"]))
    except (ValueError, KeyError, TypeError) as error:
        raise BadInput(
            f"{folder / SCENES}: a line is damaged; run the same geosleuth world make again to redraw it"
        ) from error


def _manifest(world: World, seed: int, split: Split, kinds: KindWish) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": VERSION,
        "geosleuth": __version__,
        "world": {
            "seed": world.seed,
            "noise": world.noise,
            "regions": [path.name for path in world.regions],
            "pages": world.pages,
        },
        "seed": seed,
        "split": split,
        "kinds": kinds,
    }


def _claim(folder: Path, manifest: Mapping[str, Any], count: int) -> None:
    """Ensure that the folder is ours to fill."""
    path = folder / MANIFEST
    if path.is_file():
        try:
            there = json.loads(path.read_text(encoding="utf-8"))
            scenes = int(there.pop("scenes", 0))
        except (ValueError, TypeError, AttributeError):
            raise BadInput(f"{path}: damaged; give another --out, or remove the folder") from None
        for key, value in manifest.items():
            if there.get(key) != value:
                found, wanted = (_in_words(item) for item in (there.get(key), value))
                raise BadInput(f"{folder}: holds scenes of {key} {found}, not {wanted}; give another --out")
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
    """Return a manifest's value as text; manifests are untrusted."""
    if not isinstance(value, dict):
        return str(value)[:40]
    regions = ", ".join(str(name) for name in value.get("regions") or ()) or "none"
    pages = "; with pages" if value.get("pages") else ""
    return f"{value.get('seed')} (names that repeat: {value.get('noise')}; added regions: {regions}{pages})"[:200]


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Lock the folder against other processes, as far as the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # some systems can't open a folder
        handle = None
    try:
        if handle is not None and lock_file(handle) is False:
            raise BadInput(f"{folder}: another process draws into this folder; wait for it, or stop it")
        yield
    finally:
        if handle is not None:
            os.close(handle)


def _draw_scenes(
    folder: Path, world: World, numbers: Sequence[int], task: Task, workers: int
) -> Generator[tuple[int, bytes]]:
    """Draw the scenes and yield each number with its line."""
    apart = workers > 1 and len(numbers) > 1
    words = (world.seed, world.regions, world.noise, world.pages)
    draw = partial(_draw_apart, folder, words, task) if apart else partial(draw_line, folder, world, task)
    with worker_pool(min(workers, len(numbers)) if apart else 0) as pool:
        try:
            yield from zip(numbers, pool.run_all(partial(draw, number) for number in numbers), strict=True)
        except BrokenExecutor as error:
            raise BadInput(
                f"{folder}: a worker was killed, perhaps out of memory; run again with fewer --workers to resume"
            ) from error


@lru_cache(maxsize=1)
def _world_of_worker(seed: int, regions: tuple[Path, ...], noise: Any, pages: bool) -> World:  # noqa: FBT001
    import cv2

    # There is a process for every core already: threads of OpenCV would only get in each other's way.
    cv2.setNumThreads(1)
    return open_world(seed, regions, noise=noise, pages=pages)


def _draw_apart(folder: Path, words: tuple[Any, ...], task: Task, number: int) -> bytes:
    return draw_line(folder, _world_of_worker(*words), task, number)


def draw_line(folder: Path, world: World, task: Task, number: int) -> bytes:
    """Design and draw one scene, write its picture, and return its line."""
    from .drawing import draw_scene

    seed, split, kinds = task
    scene = design_scene(world, seed, number, split=split, kind=choose_kind(seed, number, kinds))
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
    """Write the tables in order; the journal is removed last, so that nothing is lost in between."""
    tally = Tally()
    with (
        replacing(folder / SCENES) as scenes, replacing(folder / SET) as rows,
        scenes.open("wb") as scenes_stream, rows.open("wb") as rows_stream,
    ):  # fmt: skip
        for number in range(count):
            line = lines.line(number)
            made = _parse_made_scene(folder, line)
            tally.add(made.scene)
            row = json.dumps(set_row(made.scene, made.marks, made.path.name), ensure_ascii=False)
            scenes_stream.write(line)
            rows_stream.write(f"{row}\n".encode())
    write_text_atomically(folder / CARD, format_card(manifest, tally))
    whole = {**manifest, "scenes": count}
    write_text_atomically(folder / MANIFEST, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    (folder / JOURNAL).unlink()
