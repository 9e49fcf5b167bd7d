"""Lines of scenes that are safe on the disk: found by number, read when they are wanted, never all in memory."""

import json
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO

from geosleuth.bench.lines import byte_lines
from geosleuth.files import replacing

from .codec import mark_from_dict, scene_from_dict

SCENES, JOURNAL, IMAGES = "scenes.jsonl", "unfinished.jsonl", "images"


class Lines:
    """What a folder has of its scenes: the finished table, and the journal of what was drawn since."""

    def __init__(self, folder: Path, count: int) -> None:
        """Look through both files for scenes below ``count`` whose pictures are whole."""
        self._folder = folder
        self._places: dict[int, tuple[str, int, int]] = {}
        self._open: dict[str, BinaryIO] = {}
        for name in (SCENES, JOURNAL):
            self._look_through(name, count)

    def __len__(self) -> int:
        """How many scenes are there."""
        return len(self._places)

    def __contains__(self, number: int) -> bool:
        """Whether a scene is there."""
        return number in self._places

    def add(self, journal: BinaryIO, number: int, line: bytes) -> None:
        """Write a line to the journal, open at its end."""
        place = (JOURNAL, journal.tell(), len(line))
        journal.write(line)
        journal.flush()
        self._places[number] = place

    def line(self, number: int) -> bytes:
        """The line of a scene that is there."""
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
        """The number of a scene that can be read and whose picture lies there as it was drawn."""
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
    """Where the picture that a line names lies; lines may be anybody's, and name nothing outside of their folder.

    Raises:
        ValueError: it would lie elsewhere.
    """
    below, _, file = str(name).partition("/")
    if below != IMAGES or file in ("", ".", "..") or {"/", "\\", "\0"} & set(file):
        raise ValueError(f"no picture of this folder is called {str(name)[:60]!r}")
    return folder / IMAGES / file


def _cut(path: Path, length: int) -> None:
    """Take off half a line at the end: whoever wrote it was killed, and it never counted."""
    with path.open("rb") as stream, replacing(path) as neighbour, neighbour.open("wb") as shorter:
        shorter.write(stream.read(length))
