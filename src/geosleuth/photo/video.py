"""Read an untrusted clip: a few sharp frames of it, each with its second, its scene and what it says.

FFmpeg decodes in a process of its own that can open nothing (`video_decoder`); what comes back are JPEG files, which
are opened like any photo. The clip is streamed: time grows with its length, memory does not.
"""

import hashlib
import json
import os
import stat
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any

import numpy as np

from geosleuth.support.errors import BadInput, install_command
from geosleuth.support.files import NO_SUCH_FILE
from geosleuth.support.text.safe import one_line

from .opening import OpenedPhoto, open_photo
from .text import TextLine, read_text
from .video_limits import HEAD_BYTES, VideoLimits, detect_container

Progress = Callable[[str, float], None]
"""Gets what is being done, and how far it is, from 0 to 1."""

MAX_PLACES = 12
# Maximum frames of all places together: as many as the photos in a case.
MAX_FRAMES = 24

FRAMES_A_PLACE = 4
_READ_PX = 1280
_READ_S = 3.0
_MAX_MESSAGE, _MAX_JPEG = 1 << 20, 64 << 20
_HASH_BYTES = 1 << 20
# Environment variables passed to the decoder's process; they include no service's key.
_ENVIRONMENT = ("PATH", "PYTHONPATH", "PYTHONHOME", "LD_LIBRARY_PATH", "LANG", "LC_ALL", "SYSTEMROOT", "TMPDIR")

# Minimum cosine of their features at which two frames show the same place, unless their text says otherwise.
SAME_PLACE_COSINE = 0.9

# Minimum letters of a shared line for two scenes to be one place.
_MIN_SHARED = 6

MAX_READ = 24
# A frame is blurred if its edges are finer than less than this share of the finest in its scene.
_BLURRED_SHARE = 0.75

_MIN_SURE = 0.5
_MAX_LINES = 6
_FIXED_PX = 8.0
_NEW_LOOK = 0.8

_NO_PROGRESS: Progress = lambda _what, _share: None  # noqa: E731
_DEFAULT = VideoLimits()


@dataclass(frozen=True, slots=True, eq=False)
class FrameOfClip:
    """A frame as JPEG.

    ``scene`` counts from 0; ``sharpness`` is its fine detail, ``crisp`` how fine its edges are, regardless of what it
    shows; ``lines`` is what it says, once it was read.
    """

    seconds: float
    scene: int
    sharpness: float
    crisp: float
    jpeg: bytes = field(repr=False)
    lines: tuple[TextLine, ...] = ()

    def open_photo(self) -> OpenedPhoto:
        """Return it as a photo; its file claims nothing.

        Raises:
            BadInput: it can't be opened.
        """
        return open_photo(self.jpeg, name=f"the frame at {clock(self.seconds)}", kind="photo")

    @property
    def telling(self) -> float:
        """Return its amount of text: words of three letters or more, each weighted by its reading probability."""
        return sum(weight for _, weight in self.words)

    @property
    def reads(self) -> tuple[str, ...]:
        """Its lines of text, the surest first; captions are not of the place."""
        lines = sorted(self.lines, key=lambda line: -line.confidence)
        return tuple(one_line(line.text) for line in lines if not line.overlay)[:_MAX_LINES]

    @property
    def words(self) -> tuple[tuple[str, float], ...]:
        """Its words with how surely each is read; captions are not of the place."""
        best: dict[str, float] = {}
        for line in self.lines:
            if not line.overlay:
                for word in line.text.casefold().split():
                    if len(word) > 2:
                        best[word] = max(best.get(word, 0.0), line.confidence)
        return tuple(best.items())


@dataclass(frozen=True, slots=True)
class Clip:
    """Result of reading a clip. ``scenes`` are their first and last seconds; ``notes`` say what was left out."""

    sha256: str
    file_bytes: int
    format: str
    codec: str
    seconds: float
    size_px: tuple[int, int]
    decoded: int
    scenes: tuple[tuple[float, float], ...]
    frames: tuple[FrameOfClip, ...] = field(repr=False)
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ShownPlace:
    """A place that a clip shows: when, and in which frames, in the order of time."""

    spans: tuple[tuple[float, float], ...]
    frames: tuple[FrameOfClip, ...]


def clock(seconds: float) -> str:
    """Return a second of a clip as players show it: 1:04.5."""
    tenths = round(max(0.0, seconds) * 10)
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    second = f"{rest // 10:02}" + (f".{rest % 10}" if rest % 10 else "")
    return f"{hours}:{minutes:02}:{second}" if hours else f"{minutes}:{second}"


def read_clip(
    path: str | os.PathLike[str],
    limits: VideoLimits = _DEFAULT,
    *,
    name: str | None = None,
    progress: Progress = _NO_PROGRESS,
) -> Clip:
    """Decode a clip in another process and return the frames that are worth a look, not read yet.

    Args:
        path: an MP4, MOV, MKV, WebM or AVI file on this machine.
        limits: what it may cost at most.
        name: what messages call it, in place of the path.
        progress: called with how far it is.

    Raises:
        BadInput: it can't be read; one line with the reason and the way out.
    """
    called = name or str(path)
    if find_spec("av") is None:
        raise BadInput(f"{called}: videos need an extra; run: {install_command('media')}")
    try:
        with _open_clip(path, limits, called) as stream:
            head = stream.read(HEAD_BYTES)
            container = detect_container(head)
            if not head:
                raise BadInput(f"{called}: the file is empty; give a video")
            if container is None:
                raise BadInput(
                    f"{called}: this is no video that can be opened; give an MP4, MOV, MKV, WebM or AVI file"
                )
            stream.seek(0)
            digest, size = _digest(stream)
            stream.seek(0)
            frames, done = _Child(stream, limits, called, progress).work()
    except OSError as error:
        raise BadInput(f"{called}: can't be read: {error.strerror or error}") from error
    width, height = done["size_px"]
    return Clip(
        sha256=digest,
        file_bytes=size,
        format=container.name,
        codec=str(done["codec"]),
        seconds=float(done["seconds"]),
        size_px=(int(width), int(height)),
        decoded=int(done["decoded"]),
        scenes=tuple((float(start), float(end)) for start, end in done["scenes"]),
        frames=tuple(frames),
        notes=tuple(map(str, done["notes"])),
    )


def _open_clip(path: str | os.PathLike[str], limits: VideoLimits, name: str) -> IO[bytes]:
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            raise BadInput(f"{name}: this is a folder; give one video")
        if not stat.S_ISREG(status.st_mode):
            raise BadInput(f"{name}: this is a device or a pipe, not a file; give a video's file")
        if status.st_size > limits.max_bytes:
            raise BadInput(
                f"{name}: the file is larger than the {limits.max_bytes / 1024**3:g} GiB allowed; give a smaller copy"
            )
        return Path(path).open("rb", buffering=0)
    except FileNotFoundError as error:
        raise BadInput(f"{name}: {NO_SUCH_FILE}") from error
    except PermissionError as error:
        raise BadInput(f"{name}: no permission to read it; allow it (chmod +r) or copy the file") from error
    except ValueError as error:
        raise BadInput(f"{name}: can't be read: not a usable path") from error


def _digest(stream: IO[bytes]) -> tuple[str, int]:
    hashing, size = hashlib.sha256(), 0
    while block := stream.read(_HASH_BYTES):
        hashing.update(block)
        size += len(block)
    return hashing.hexdigest(), size


class _Child:
    def __init__(self, stream: IO[bytes], limits: VideoLimits, name: str, progress: Progress) -> None:
        self._stream, self._limits, self._name, self._progress = stream, limits, name, progress
        self._late = False

    def work(self) -> tuple[list[FrameOfClip], dict[str, Any]]:
        """Run it to its end.

        Raises:
            BadInput: the clip can't be read, or takes longer than it may.
        """
        # Without -P, modules in the current folder would be imported. Threads of numpy reserve memory.
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
        with subprocess.Popen(
            [sys.executable, "-P", "-m", "geosleuth.photo.video_decoder", json.dumps(asdict(self._limits))],
            stdin=self._stream.fileno(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
        ) as process:
            late = threading.Timer(self._limits.wall_s, self._end, (process,))
            late.start()
            try:
                if process.stdout is None:
                    raise BadInput(f"{self._name}: can't be decoded here")
                return self._receive_frames(process.stdout)
            finally:
                late.cancel()
                process.kill()

    def _end(self, process: "subprocess.Popen[bytes]") -> None:
        self._late = True
        process.kill()

    def _receive_frames(self, pipe: IO[bytes]) -> tuple[list[FrameOfClip], dict[str, Any]]:
        frames: list[FrameOfClip] = []
        while (message := _message(pipe)) is not None:
            fields, blob = message
            if "error" in fields:
                raise BadInput(f"{self._name}: {str(fields['error'])[:300]}")
            if "at" in fields:
                self._progress("looking through the video", float(fields["at"]))
            elif "frame" in fields and len(frames) < self._limits.max_kept:
                item = fields["frame"]
                seconds, sharpness, crisp = (float(item[name]) for name in ("seconds", "sharpness", "crisp"))
                frames.append(FrameOfClip(seconds, int(item["scene"]), sharpness, crisp, blob))
            elif "done" in fields:
                return frames, dict(fields["done"])
        if self._late:
            raise BadInput(f"{self._name}: it takes longer to decode than the {self._limits.wall_s:.0f} s allowed")
        raise BadInput(f"{self._name}: it breaks the decoder, or takes more memory or time than allowed; convert it")


def _message(pipe: IO[bytes]) -> tuple[dict[str, Any], bytes] | None:
    """Read a message; None at the end, or where it is none."""
    head = pipe.read(8)
    if len(head) < 8:
        return None
    length, size = struct.unpack(">II", head)
    if length > _MAX_MESSAGE or size > _MAX_JPEG:
        return None
    line, blob = pipe.read(length), pipe.read(size)
    if len(line) < length or len(blob) < size:
        return None
    fields = json.loads(line)
    return (fields, blob) if isinstance(fields, dict) else None


def places_shown(clip: Clip, *, progress: Progress = _NO_PROGRESS) -> list[ShownPlace]:
    """Return the places that a clip shows, each with its most telling frames.

    Scenes that show the same line of text are one place, and so are scenes that look alike and do not have different
    words. Of each place those frames are taken that say
    most that the others don't, then sharp ones that look different.

    Raises:
        BadInput: a frame can't be opened.
    """
    from .image_encoder import load_encoder

    encoder = load_encoder()
    read: list[FrameOfClip] = []
    features = []
    worth = worth_reading(clip.frames)
    for number, frame in enumerate(worth):
        progress("reading its frames", number / len(worth))
        image = frame.open_photo().photo.image
        lines = read_text(image, seconds=_READ_S, detail_px=_READ_PX)
        read.append(replace(frame, lines=tuple(line for line in lines if line.text)))
        features.append(encoder.features([image])[0])
    if not read:
        return []
    cosines = np.stack(features) @ np.stack(features).T
    groups = _group_frames(read, cosines)
    each = FRAMES_A_PLACE if len(groups) <= MAX_FRAMES // FRAMES_A_PLACE else max(1, MAX_FRAMES // len(groups))
    shown = []
    for members in groups:
        chosen = choose([read[index] for index in members], cosines[np.ix_(members, members)], each)
        scenes = sorted({read[index].scene for index in members})
        shown.append(ShownPlace(_spans([clip.scenes[scene] for scene in scenes if scene < len(clip.scenes)]), chosen))
    return shown


def worth_reading(frames: Sequence[FrameOfClip]) -> list[FrameOfClip]:
    """Return the frames without those that motion has blurred; of many as many as can be read, some of each scene."""
    crispest: dict[int, float] = {}
    for frame in frames:
        crispest[frame.scene] = max(frame.crisp, crispest.get(frame.scene, 0.0))
    crisp = [frame for frame in frames if frame.crisp >= _BLURRED_SHARE * crispest[frame.scene]]
    by_scene: dict[int, list[FrameOfClip]] = {}
    for frame in sorted(crisp, key=lambda item: -item.sharpness * item.crisp):
        by_scene.setdefault(frame.scene, []).append(frame)
    ranked = sorted((rank, number) for number, of_one in by_scene.items() for rank in range(len(of_one)))
    kept = [by_scene[number][rank] for rank, number in ranked[:MAX_READ]]
    return sorted(kept, key=lambda frame: frame.seconds)


def _group_frames(frames: Sequence[FrameOfClip], cosines: "np.ndarray[Any, np.dtype[np.floating]]") -> list[list[int]]:
    """Return the frames of each place by their indices, in the order in which places are first seen."""
    scenes = sorted({frame.scene for frame in frames})
    of = {scene: [index for index, frame in enumerate(frames) if frame.scene == scene] for scene in scenes}
    lines = {scene: _long_lines([frames[index] for index in of[scene]]) for scene in scenes}
    words = {
        scene: {word for index in of[scene] for word, sure in frames[index].words if sure >= _MIN_SURE}
        for scene in scenes
    }
    fixed = _find_fixed_lines(list(lines.values()))
    first = {scene: scene for scene in scenes}

    def root(scene: int) -> int:
        while first[scene] != scene:
            scene = first[scene]
        return scene

    for at, item in enumerate(scenes):
        for other in scenes[at + 1 :]:
            shared = lines[item].keys() & lines[other].keys() - fixed
            # Two walls with different signs on them look much the same.
            differ = bool(words[item] and words[other]) and not words[item] & words[other]
            alike = not differ and float(cosines[np.ix_(of[item], of[other])].max()) >= SAME_PLACE_COSINE
            if shared or alike:
                low, high = sorted((root(item), root(other)))
                first[high] = low
    groups: dict[int, list[int]] = {}
    for scene in scenes:
        groups.setdefault(root(scene), []).extend(of[scene])
    found = list(groups.values())
    if len(found) > MAX_PLACES:
        telling = sorted(found, key=lambda members: -max(frames[index].telling for index in members))
        found = [item for item in found if item in telling[:MAX_PLACES]]
    return found


def _long_lines(frames: Sequence[FrameOfClip]) -> dict[str, tuple[float, float]]:
    """Return the lines that a place may be known by, each with where it stands in the picture, in pixels."""
    found = {}
    for line in (line for frame in frames for line in frame.lines):
        folded = "".join(filter(str.isalnum, line.text.casefold()))
        if len(folded) >= _MIN_SHARED and not line.overlay and line.confidence >= _MIN_SURE:
            left, top, right, bottom = line.bounds
            found[folded] = (left + right) / 2, (top + bottom) / 2
    return found


def _find_fixed_lines(scenes: Sequence[Mapping[str, tuple[float, float]]]) -> set[str]:
    """Return lines that stand in the same spot in most of several scenes: they are the maker's and not the place's."""
    fixed = set()
    for line in set[str]().union(*scenes):
        spots = [scene[line] for scene in scenes if line in scene]
        spread = max(max(values) - min(values) for values in zip(*spots, strict=True))
        if len(spots) > 2 and 2 * len(spots) > len(scenes) and spread < _FIXED_PX:
            fixed.add(line)
    return fixed


def choose(
    frames: Sequence[FrameOfClip], cosines: "np.ndarray[Any, np.dtype[np.floating]]", most: int
) -> tuple[FrameOfClip, ...]:
    """Return the frames of one place that tell most together, in the order of time."""
    sharpest = max(frame.sharpness for frame in frames) or 1.0
    fit = list(range(len(frames)))
    known: dict[str, float] = {}
    chosen: list[int] = []
    while fit and len(chosen) < most:

        def gain(index: int) -> float:
            new = sum(max(0.0, weight - known.get(word, 0.0)) for word, weight in frames[index].words)
            alike = max((float(cosines[index, other]) for other in chosen), default=0.0)
            return new + 0.5 * frames[index].sharpness / sharpest + (1.0 - alike)

        best = max(fit, key=gain)
        said = any(weight > known.get(word, 0.0) + 0.2 for word, weight in frames[best].words)
        if chosen and not said and max(float(cosines[best, other]) for other in chosen) > _NEW_LOOK:
            break
        chosen.append(best)
        fit.remove(best)
        for word, weight in frames[best].words:
            known[word] = max(weight, known.get(word, 0.0))
    return tuple(frames[index] for index in sorted(chosen, key=lambda index: frames[index].seconds))


def _spans(scenes: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """Return stretches of time, those that meet as one."""
    joined: list[tuple[float, float]] = []
    for start, end in scenes:
        if joined and start <= joined[-1][1] + 0.05:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return tuple(joined)
