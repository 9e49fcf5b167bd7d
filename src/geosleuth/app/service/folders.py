"""Where the service keeps files: the photos of each case as they came, smaller pictures of them, the trajectories."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path

from geosleuth.errors import BadInput

from .store import new_id

_PHOTOS, _PICTURES, _RUNS, _PART = "photos", "pictures", "runs", ".part"
_PRIVATE = 0o700


class Folders:
    """The service's folder. Names in it are ids and numbers: nothing that a person sent becomes a path."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @property
    def database(self) -> Path:
        """The database."""
        return self._root / "desk.sqlite"

    def make(self) -> None:
        """Make the folder, for its owner alone.

        Raises:
            BadInput: it can't be made.
        """
        try:
            self._cases.mkdir(parents=True, exist_ok=True)
            self._root.chmod(_PRIVATE)
        except OSError as error:
            raise BadInput(f"{self._root}: can't be used: {error.strerror or error}") from error

    @property
    def _cases(self) -> Path:
        return self._root / "cases"

    def make_case(self, case_id: str) -> None:
        """Make the folders of a case.

        Raises:
            BadInput: they can't be made.
        """
        try:
            for name in (_PHOTOS, _PICTURES, _RUNS):
                (self._cases / case_id / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{self._root}: can't be written: {error.strerror or error}") from error

    def part(self, case_id: str) -> Path:
        """A photo that is still coming in."""
        return self._cases / case_id / _PHOTOS / f"{new_id()}{_PART}"

    def photo(self, case_id: str, number: int) -> Path:
        """A photo as it came."""
        return self._cases / case_id / _PHOTOS / str(number)

    def picture(self, case_id: str, number: int, most_px: int) -> Path:
        """A smaller picture of a photo."""
        return self._cases / case_id / _PICTURES / f"{number}-{most_px}.jpg"

    def trajectory(self, case_id: str, run_id: str) -> Path:
        """A run's trajectory; those of several minds have theirs beside it."""
        return self._cases / case_id / _RUNS / f"{run_id}.jsonl"

    def remove_case(self, case_id: str) -> None:
        """Remove all files of a case."""
        shutil.rmtree(self._cases / case_id, ignore_errors=True)

    def remove_photo(self, case_id: str, number: int) -> None:
        """Remove a photo and its pictures."""
        self.photo(case_id, number).unlink(missing_ok=True)
        for picture in (self._cases / case_id / _PICTURES).glob(f"{number}-*"):
            picture.unlink(missing_ok=True)

    def remove_run(self, case_id: str, run_id: str) -> None:
        """Remove all files of a run."""
        for file in (self._cases / case_id / _RUNS).glob(f"*{run_id}.*"):
            file.unlink(missing_ok=True)

    def sweep(self, known: Mapping[str, Collection[int]], runs: Collection[str]) -> None:
        """Remove what a process left behind that was ended in the middle of something: all but what is known."""
        for folder in self._cases.iterdir():
            if folder.name not in known:
                shutil.rmtree(folder, ignore_errors=True)
                continue
            numbers = {str(number) for number in known[folder.name]}
            for photo in (folder / _PHOTOS).glob("*"):
                if photo.name not in numbers:
                    photo.unlink(missing_ok=True)
            for picture in (folder / _PICTURES).glob("*"):
                if picture.name.partition("-")[0] not in numbers:
                    picture.unlink(missing_ok=True)
            for trajectory in (folder / _RUNS).glob("*"):
                # One that is half written begins with a dot.
                if trajectory.name.partition(".")[0] not in runs:
                    trajectory.unlink(missing_ok=True)
