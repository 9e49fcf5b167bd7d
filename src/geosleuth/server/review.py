"""The findings of a batch under review: what a person decided of each, and files for what was confirmed.

A batch leaves ``review/photos.json`` in its folder: which photos there are, and what was found. Decisions go to
``decisions.jsonl`` beside it, a line each, and count once the line is safe on disk; one for many photos is one line, so
it counts for all of them or for none. Photos are known by their content: the same photo in two places is decided once.

Files beside photos are written only where a person confirmed or corrected a place, and only beside photos that still
hold what was looked at. What ``locate --sidecars`` and ``--write-exif`` wrote is updated; what another program wrote
there is never replaced or removed.
"""

import json
import os
import re
import shlex
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

from geosleuth.agent import read_trajectory
from geosleuth.answer import Address, Answer
from geosleuth.answer.formats import AnswerContext, LocatedAnswer, to_xmp
from geosleuth.geo import LatLon, is_valid, round_point
from geosleuth.names import country_code
from geosleuth.photo.geotag import is_copy_of_ours, write_exif_copy
from geosleuth.photo.sidecar import is_sidecar_of_ours
from geosleuth.pipeline.outputs import (
    PHOTO_EXTENSIONS,
    WRITABLE_EXTENSIONS,
    build_entries,
    exif_copy_path,
    sidecar_path,
)
from geosleuth.support.decode import decode
from geosleuth.support.errors import BadInput
from geosleuth.support.files import (
    MAX_JSON_BYTES,
    byte_lines,
    compute_sha256,
    lock_file,
    read_json,
    write_text_atomically,
)

LIST, JOURNAL = "review/photos.json", "review/decisions.jsonl"
ID_LENGTH = 16
_NAME_CHARACTERS = 40
_ODD = re.compile(r"[^\w.-]+")
Verdict = Literal["open", "confirmed", "corrected", "rejected"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
_FORMAT = "geosleuth-photos"
_HEADER = {"format": "geosleuth-review", "version": 1}
_MAX_TROUBLES = 20
_MAX_LEFT = 5
_MAX_LOOKED_AT = 10_000


@dataclass(frozen=True, slots=True)
class Listed:
    """A photo of a batch: its content, where it lies as seen from the batch's folder, and what was found.

    ``lead_minutes`` says how much later than it the nearest located photo was taken; earlier: negative.
    """

    sha256: str
    path: str
    status: str
    place: str = ""
    lat: float | None = None
    lon: float | None = None
    radius_km: float | None = None
    probability: float | None = None
    conflicts: bool = False
    area: Literal["country", "circle"] | None = None
    lead: str = ""
    lead_minutes: int | None = None

    @property
    def id(self) -> str:
        """The name of its files in the batch's folder."""
        return self.sha256[:ID_LENGTH]


@dataclass(frozen=True, slots=True)
class ReviewDecision:
    """Decision of a reviewer; a point and names where the place was corrected."""

    verdict: Verdict = "open"
    point: LatLon | None = None
    country: str | None = None
    region: str | None = None
    precise: str | None = None

    @property
    def place(self) -> str:
        """The names, finest first."""
        return ", ".join(dict.fromkeys(name for name in (self.precise, self.region, self.country) if name))


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of the journal: a decision, or a file of ours that was written or removed."""

    photos: tuple[str, ...] = ()
    verdict: Verdict | None = None
    lat: float | None = None
    lon: float | None = None
    country: str | None = None
    region: str | None = None
    precise: str | None = None
    photo: str | None = None
    wrote: str | None = None
    sha256: str | None = None
    removed: str | None = None


@dataclass(slots=True)
class Written:
    """Number of files written, removed and skipped because others wrote them, and the errors.

    ``left`` names the first of the files that were left as they are.
    """

    sidecars: int = 0
    copies: int = 0
    kept: int = 0
    removed: int = 0
    left: list[str] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)


def write_list(folder: Path, listed: Iterable[Listed]) -> None:
    """Write which photos a batch had.

    Raises:
        BadInput: it can't be written.
    """
    try:
        (folder / LIST).parent.mkdir(exist_ok=True)
    except OSError as error:
        raise BadInput(f"{folder / LIST}: can't be written: {error.strerror or error}") from error
    document = {"format": _FORMAT, "version": 1, "photos": [asdict(item) for item in listed]}
    write_text_atomically(folder / LIST, json.dumps(document, ensure_ascii=False, indent=1) + "\n")


def compute_relative_path(folder: Path, photo: Path) -> str:
    """Return a photo's path as seen from a folder: it says less of this machine, and both can be moved together."""
    try:
        return Path(os.path.relpath(photo.absolute(), folder.absolute())).as_posix()
    except ValueError:  # on another drive
        return str(photo.absolute())


class FindingFiles:
    """The files of a batch's findings: the photo's name, then its content; a photo is found by its content alone."""

    def __init__(self, folder: Path) -> None:
        """Look once which files there are."""
        self._folder = folder
        # Files of two minds, such as PHOTO-ID.try1.jsonl, end otherwise.
        self._there = {path.name[-ID_LENGTH - len(path.suffix) :]: path for path in folder.glob("*.*")}

    def path(self, sha256: str, ending: str, photo: str = "") -> Path:
        """Return where a file of a photo's finding is, or goes; without a name where that may not be told."""
        key = f"{sha256[:ID_LENGTH]}{ending}"
        name = _ODD.sub("-", Path(photo).stem)[:_NAME_CHARACTERS].strip("-.")
        return self._there.setdefault(key, self._folder / (f"{name}-{key}" if name else key))


class Review:
    """One batch under review, by one process at a time; every method may be called from any thread."""

    def __init__(self, folder: Path, listed: Sequence[Listed], stream: BinaryIO) -> None:
        """Use `open`."""
        self.folder = folder
        self._photos: dict[str, list[Listed]] = {}
        for item in listed:
            self._photos.setdefault(item.id, []).append(item)
        self._decisions: dict[str, ReviewDecision] = {}
        self._written: dict[str, dict[str, str]] = {}
        self._stream = stream
        self._files = FindingFiles(folder)
        self._changing = threading.Lock()

    @classmethod
    def open(cls, folder: Path, photos: Iterable[Path] | None = None) -> "Review":
        """Open a batch's folder, with what was decided before.

        Args:
            folder: what ``geosleuth locate … --out`` wrote.
            photos: where the photos are now, if they were moved; they are found by their content.

        Raises:
            BadInput: it is no such folder, can't be written, or another process reviews it.
        """
        listed = _load_list(folder)
        if photos is not None:
            listed = _match_photos(folder, listed, photos)
        try:
            stream = (folder / JOURNAL).open("a+b")
        except OSError as error:
            raise BadInput(f"{folder / JOURNAL}: can't be written: {error.strerror or error}") from error
        try:
            if lock_file(stream.fileno()) is False:
                raise BadInput(f"{folder}: is being reviewed by another geosleuth; stop that one first")
            review = cls(folder, listed, stream)
            review._load_journal()
        except BaseException:
            stream.close()
            raise
        return review

    def close(self) -> None:
        """Let go of the folder."""
        with self._changing:
            self._stream.close()

    # What there is.

    def ids(self, verdict: Verdict | None = None, least: float | None = None) -> list[str]:
        """Return photos in the batch's order: those of a verdict, those that are found as probably as this."""
        return [
            one
            for one, (first, *_) in self._photos.items()
            if (verdict is None or self.decision(one).verdict == verdict)
            and (least is None or (first.probability or 0.0) >= least)
        ]

    def photo(self, text: str) -> Listed:
        """Return a photo.

        Raises:
            BadInput: there is no such photo.
        """
        return self._get_listed(text)[0]

    def copies(self, text: str) -> int:
        """Return in how many places a photo lies."""
        return len(self._get_listed(text))

    def decision(self, text: str) -> ReviewDecision:
        """Return what was decided of a photo."""
        return self._decisions.get(text, ReviewDecision())

    def path(self, text: str) -> Path:
        """Return where a photo lies, if it still holds what was looked at.

        Raises:
            BadInput: there is no such photo, or another one.
        """
        return self._verify_photo(self._get_listed(text)[0])

    def details(self, text: str) -> dict[str, Any]:
        """Return the whole finding, as ``geosleuth locate --json`` has it; empty where it can't be read."""
        self._get_listed(text)
        with suppress(OSError, ValueError, KeyError, TypeError, RecursionError):
            kept = json.loads(self._files.path(text, ".json").read_bytes()[:MAX_JSON_BYTES])
            return dict(kept["resume"]["document"])
        return {}

    def report(self, text: str) -> bytes | None:
        """Return the report of a finding; None where there is none."""
        self._get_listed(text)
        with suppress(OSError):
            return self._files.path(text, ".html").read_bytes()
        return None

    def counts(self) -> dict[Verdict, int]:
        """Return how many photos have which verdict."""
        found = dict.fromkeys(VERDICTS, 0)
        for photo in self._photos:
            found[self.decision(photo).verdict] += 1
        return found

    # What is decided.

    def decide(self, ids: Sequence[str], decision: ReviewDecision) -> None:
        """Keep a decision for photos, for all of them or for none.

        Raises:
            BadInput: there is no such photo, the place to confirm was never found, or it can't be kept.
        """
        wanted = list(dict.fromkeys(ids))
        for item in wanted:
            if decision.verdict == "confirmed" and self.photo(item).lat is None:
                raise BadInput(f"{Path(self.photo(item).path).name}: no place was found to confirm; correct it instead")
            self._get_listed(item)
        if decision.verdict == "corrected" and decision.point is None:
            raise BadInput("a correction needs a point; pin it on the map, or choose a place")
        if not wanted:
            return
        names = {key: value for key, value in asdict(decision).items() if key not in ("verdict", "point") and value}
        point = {} if decision.point is None else {"lat": decision.point.lat, "lon": decision.point.lon}
        with self._changing:
            self._append({"photos": wanted, "verdict": decision.verdict, **point, **names})
            self._decisions.update(dict.fromkeys(wanted, decision))

    # What is written.

    def write(self, *, sidecars: bool, copies: bool) -> Written:
        """Write files for what was confirmed, and remove those of ours for what no longer is.

        Args:
            sidecars: XMP files beside the photos.
            copies: copies of JPEG and PNG photos with the place in their metadata.
        """
        done = Written()
        with self._changing:
            for item, listed in self._photos.items():
                decision = self.decision(item)
                if decision.verdict not in ("confirmed", "corrected"):
                    self._remove(item, done)
                    continue
                for photo in listed:
                    try:
                        self._write_beside(photo, decision, done, sidecars=sidecars, copies=copies)
                    except (BadInput, OSError) as error:
                        if len(done.troubles) < _MAX_TROUBLES:
                            done.troubles.append(str(error))
        return done

    def _write_beside(
        self, photo: Listed, decision: ReviewDecision, done: Written, *, sidecars: bool, copies: bool
    ) -> None:
        path = self._verify_photo(photo)
        entry = self._entry(photo, path, decision)
        if entry.answer.point is None:
            return
        point, radius_km = entry.point, entry.answer.radius_km
        if sidecars:
            text = to_xmp([entry])
            done.sidecars += self._put(photo, sidecar_path(path), done, lambda to: write_text_atomically(to, text))
        # A country or region is in the sidecar as a name; a copy's GPS fields can only hold a point.
        if copies and point is not None and path.suffix.lower() in WRITABLE_EXTENSIONS:
            method, place = entry.context.place_method, round_point(point, radius_km)
            done.copies += self._put(
                photo,
                exif_copy_path(path),
                done,
                lambda to: write_exif_copy(path, to, place, radius_km, method=method, overwrite=True),
            )

    def _entry(self, photo: Listed, path: Path, decision: ReviewDecision) -> LocatedAnswer:
        if decision.verdict == "confirmed":
            trajectory = read_trajectory(self._files.path(photo.id, ".jsonl"))
            (entry,) = build_entries(trajectory, [(photo.sha256, path)], "exact", reviewed="confirmed")
            return entry
        address = Address.create(decision.country, decision.region, decision.precise)
        context = AnswerContext(
            sha256=photo.sha256, file_name=path.name, when=datetime.now(UTC), reviewed="corrected",
            country_code=country_code(decision.country or ""),
        )  # fmt: skip
        return LocatedAnswer(Answer(decision.point, address), context)

    def _put(self, photo: Listed, path: Path, done: Written, write: Callable[[Path], object]) -> bool:
        """Write a file, unless another one is there that neither this review nor ``locate`` wrote."""
        item = photo.id
        ours = self._written.setdefault(item, {})
        name = compute_relative_path(self.folder, path)
        there = path.exists() or path.is_symlink()
        if there and compute_sha256(path) != ours.get(name) and not self._is_by_locate(photo, path):
            done.kept += 1
            if len(done.left) < _MAX_LEFT:
                done.left.append(path.name)
            return False
        write(path)
        digest = compute_sha256(path)
        self._append({"wrote": name, "photo": item, "sha256": digest})
        ours[name] = digest
        return True

    def _is_by_locate(self, photo: Listed, path: Path) -> bool:
        """Return whether ``locate --sidecars`` or ``--write-exif`` wrote a file that is unchanged since."""
        if path.suffix.lower() in WRITABLE_EXTENSIONS:
            return is_copy_of_ours(self.folder / photo.path, path)
        return is_sidecar_of_ours(path, photo.sha256)

    def _remove(self, text: str, done: Written) -> None:
        if text not in self._written:
            return
        photos = [self.folder / photo.path for photo in self._photos[text]]
        beside = {
            compute_relative_path(self.folder, made(photo))
            for photo in photos
            for made in (sidecar_path, exif_copy_path)
        }
        for name, digest in list(self._written[text].items()):
            path = self.folder / name
            # The folder may come from another person: nothing but files beside these photos is touched.
            with suppress(OSError, BadInput):
                if name in beside and path.is_file() and compute_sha256(path) == digest:
                    path.unlink()
                    done.removed += 1
            self._append({"removed": name, "photo": text})
            del self._written[text][name]

    # The journal.

    def _load_journal(self) -> None:
        self._stream.seek(0)
        whole = 0
        for line in byte_lines(self.folder / JOURNAL, self._stream.readline, "decision"):
            if not line.endswith(b"\n"):
                break
            whole += len(line)
            try:
                self._take(json.loads(line))
            except (ValueError, BadInput, RecursionError) as error:
                raise BadInput(f"{self.folder / JOURNAL}: is damaged; move it away to begin anew") from error
        # A killed process may leave half a line, which never counted.
        self._stream.truncate(whole)
        if not whole:
            self._append(_HEADER)

    def _take(self, row: Any) -> None:
        if row == _HEADER:
            return
        line = decode(row, _Line, "empty")
        if line.verdict is not None:
            point = None if line.lat is None or line.lon is None else LatLon(line.lat, line.lon)
            decision = ReviewDecision(line.verdict, point, line.country, line.region, line.precise)
            self._decisions.update(dict.fromkeys(line.photos, decision))
        elif line.photo is not None and line.wrote is not None and line.sha256 is not None:
            self._written.setdefault(line.photo, {})[line.wrote] = line.sha256
        elif line.photo is not None and line.removed is not None:
            self._written.get(line.photo, {}).pop(line.removed, None)
        else:
            raise ValueError("no line of a review")

    def _append(self, row: dict[str, Any]) -> None:
        line = json.dumps(row, ensure_ascii=False, allow_nan=False).encode("utf-8", "backslashreplace") + b"\n"
        before = self._stream.seek(0, os.SEEK_END)
        try:
            self._stream.write(line)
            self._stream.flush()
            os.fsync(self._stream.fileno())
        except OSError as error:
            with suppress(OSError):
                self._stream.truncate(before)
            raise BadInput(f"the decision can't be kept: {error.strerror or error}") from error

    def _get_listed(self, text: str) -> list[Listed]:
        if text not in self._photos:
            raise BadInput(f"this batch has no photo {text[:40]!r}; reload the page")
        return self._photos[text]

    def _verify_photo(self, photo: Listed) -> Path:
        path = self.folder / photo.path
        if compute_sha256(path) != photo.sha256:
            raise BadInput(f"{path.name}: is not the photo that was looked at any more; nothing was written beside it")
        return path


def _load_list(folder: Path) -> list[Listed]:
    path = folder / LIST
    how = f"make one with: geosleuth locate PHOTOS --out {shlex.quote(str(folder))}/ (without --granularity)"
    try:
        document = read_json(path)
        rows = document["photos"] if document["format"] == _FORMAT else None
        listed = [decode(row, Listed, "empty") for row in rows or ()]
    except (FileNotFoundError, NotADirectoryError) as error:
        if _holds_photos(folder):
            raise BadInput(
                f"{folder}: this is a folder of photos; first run: geosleuth locate {shlex.quote(str(folder))}/ "
                "--out FINDINGS/ , then: geosleuth review FINDINGS/"
            ) from error
        raise BadInput(f"{folder}: no batch of findings; {how}") from error
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, RecursionError, BadInput) as error:
        raise BadInput(f"{path}: is no list of a batch; {how}") from error
    for item in listed:
        hexadecimal = len(item.sha256) == 64 and not item.sha256.strip("0123456789abcdef")
        placed = item.lat is None or item.lon is None or is_valid(item.lat, item.lon)
        if not (hexadecimal and placed):
            raise BadInput(f"{path}: is damaged; {how}")
    if not listed:
        raise BadInput(f"{folder}: holds no finding to review; {how}")
    return listed


def _holds_photos(folder: Path) -> bool:
    return any(item.suffix.lower() in PHOTO_EXTENSIONS for item in islice(folder.rglob("*"), _MAX_LOOKED_AT))


def _match_photos(folder: Path, listed: Sequence[Listed], photos: Iterable[Path]) -> list[Listed]:
    known = {item.sha256: item for item in listed}
    found = []
    for path in photos:
        with suppress(BadInput):
            if (item := known.get(compute_sha256(path))) is not None:
                found.append(Listed(**{**asdict(item), "path": compute_relative_path(folder, path)}))
    if not found:
        raise BadInput("none of these photos is in the batch; name the folder that they were moved to")
    return found
