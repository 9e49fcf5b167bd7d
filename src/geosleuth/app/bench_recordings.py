"""Recorded answers to a whole data set, as whoever thinks: by photo, what was said about it."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from geosleuth.agent import read_trajectory
from geosleuth.answer import render
from geosleuth.bench.records import read_records
from geosleuth.bench.run.folder import RunFolder
from geosleuth.errors import BadInput
from geosleuth.policies import Step, Usage
from geosleuth.policies.replay import ReplayPolicy

PREFIX = "replay:"


class Recordings(Protocol):
    """What was said about each photo of a data set, by the data set's own ids.

    ``calls_tools`` says whether tools may be called again on the way.
    """

    sha256: str
    calls_tools: bool

    def steps(self, photo_id: str) -> Sequence[Step] | None:
        """The steps, turn by turn; None where there is no recording of this photo."""
        ...

    def knows(self, photo_id: str) -> bool:
        """Whether there is a recording of this photo."""
        ...


def is_recording(model: str | None) -> bool:
    """Whether a model's name says that recorded answers are to be played."""
    return model is not None and model.startswith(PREFIX)


def open_recordings(model: str) -> Recordings:
    """Read ``replay:RECORDS`` (.jsonl or .csv, one reply a photo) or ``replay:RUN/`` (the folder of an earlier run).

    Raises:
        BadInput: there is no such file or folder, or it can't be read.
    """
    name = model.removeprefix(PREFIX).strip()
    if not name:
        raise BadInput(f"{PREFIX} lacks the recording; write {PREFIX}RECORDS.jsonl or {PREFIX}RUN/")
    path = Path(name).expanduser()
    if not path.exists():
        raise BadInput(f"{path}: there is no such file or folder; {PREFIX} takes a file of records or a run's folder")
    return _RunRecordings(path) if path.is_dir() else _ReplyRecordings(path)


class ReplayOfSet(ReplayPolicy):
    """Stands for all recordings of a set where one policy must be named; each photo gets a replay of its own."""

    def __init__(self) -> None:
        super().__init__(())


class _ReplyRecordings:
    """One reply a photo, held in memory."""

    calls_tools = False

    def __init__(self, path: Path) -> None:
        digest = hashlib.sha256()
        self._replies: dict[str, str] = {}
        for record in read_records(path, fingerprint=digest.update):
            reply = record.reply if record.reply is not None else render(record.answer) if record.answer else ""
            # Of records with one id the first counts: a data set has one photo of that id.
            self._replies.setdefault(record.id, reply)
        self.sha256 = digest.hexdigest()

    def steps(self, photo_id: str) -> Sequence[Step] | None:
        reply = self._replies.get(photo_id)
        return None if reply is None else (Step(text=reply),)

    def knows(self, photo_id: str) -> bool:
        return photo_id in self._replies


class _RunRecordings:
    """The newest answered try at each photo of an earlier run; its trajectory is read when it is needed."""

    calls_tools = True

    def __init__(self, path: Path) -> None:
        folder = RunFolder.read(path)
        digest = hashlib.sha256()
        self._files: dict[str, Path] = {}
        for photo_id, file in self._answered(folder):
            self._files[photo_id] = file
            digest.update(f"{photo_id}\0{file.name}\n".encode("utf-8", "backslashreplace"))
        self.sha256 = digest.hexdigest()

    @staticmethod
    def _answered(folder: RunFolder) -> Iterator[tuple[str, Path]]:
        for one in folder.tries():
            if one.outcome == "answered":
                yield one.id, folder.trajectory(one.image, one.number)

    def steps(self, photo_id: str) -> Sequence[Step] | None:
        file = self._files.get(photo_id)
        # Nothing is paid for a second time.
        return None if file is None else [replace(step, usage=Usage()) for step in read_trajectory(file).steps]

    def knows(self, photo_id: str) -> bool:
        return photo_id in self._files
