"""The process that decodes an untrusted clip: ``python -m geosleuth.photo.video_decoder LIMITS``.

The clip is its standard input, already open; what comes out is a few frames as JPEG, in messages that `video` reads.
Before the first byte is decoded the process gives up the right to open anything: no file, no socket, no more memory
and processor time than the limits allow. So a playlist in disguise, or a decoder that was taken over, reaches nothing.

Frames are streamed: one is held at a time, and of each half second the sharpest. What is kept of the whole clip is a
pool of fixed size; when it is full, the duller of the two frames that look most alike leaves it.
"""

import io
import json
import os
import signal
import struct
import sys
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from .video_limits import CODECS, VideoContainer, VideoLimits, detect_container

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

Floats = npt.NDArray[np.float32]

# Length of the slots, in seconds, from each of which the sharpest frame is kept at first.
SLOT_S = 0.5

# Frames per second checked for sharpness; the others are checked only for cuts.
CHECKS_PER_SECOND = 8.0

LOOK_PX = (32, 18)
DETAIL_PX = 960
_BLOCKS = 12
_WIDE = 4
_TEXTURED = 0.25
# Maximum brightness (of 255) of black frames, which come between two scenes and are never chosen.
_MAX_BLANK_BRIGHTNESS = 18.0

CUT_LEAST = 12.0
CUT_TIMES = 2.5
# A cut: the small picture changes by so many grey levels on average and by so many times what it changed before. Also
# its colours change by the first share, or what is bright and dark in it agrees no better than the first correlation,
# or both by the second ones. A fast pan or zoom changes much from frame to frame, but steadily, in the same colours.
CUT_COLOURS, CUT_LIKENESS = (0.35, 0.2), (0.45, 0.55)

# A cut between pictures of like colours and build, as two shop fronts are: the small picture changes by so many times
# the most that it changed before, in so many frames at least, and no more than that share of it in the next frame; and
# what is bright and dark in it agrees no better than this correlation, or else only the light has changed. The next
# frame tells a cut from the beginning of a fast pan, which goes on.
JUMP_TIMES, JUMP_LIKENESS, JUMP_AFTER = 4.0, 0.9, 4

# A dissolve: within a second or two the small picture changes by so much, and in the middle of that time it is the mean
# of both ends but for this share of the change; the middle of a pan is no mean of its ends.
DISSOLVE_LEAST, DISSOLVE_OFF = 18.0, 0.2

_HALVES = (3, 6)
_RECENT = 12
# Frames of one scene that differ by less than this, in grey levels of the small picture, show the same content.
_SAME_CONTENT_DIFFERENCE = 3.0

_QUALITY = 92
_MAX_KEPT_PX = 3840 * 2160
_MAX_ERRORS = 200
_NEWS_S = 0.4
_DIE_WITH_PARENT = 1
_SPARE_CPU_S = 20
_WHOLE = 0.9

_DAMAGED = "it is cut short or damaged, or no video; get a whole copy of it"


class Refusal(Exception):
    """This clip can't be read; the message goes after the file's name."""


@dataclass(slots=True)
class FrameLook:
    """A frame as it is compared: a very small picture, its colours, and how sharp it is, once that was looked at."""

    seconds: float
    small: Floats
    colours: Floats
    sharpness: float = 0.0
    crisp: float = 0.0

    @property
    def worth(self) -> float:
        """Return how well it can be looked at, next to others of the same scene."""
        return self.sharpness * self.crisp

    @property
    def blank(self) -> bool:
        """Return whether the frame is black."""
        return float(self.small.max()) < _MAX_BLANK_BRIGHTNESS

    def compute_change(self, other: "FrameLook") -> float:
        """Return by how many grey levels the small picture differs, on average."""
        return float(np.abs(self.small - other.small).mean())

    def is_unlike(self, other: "FrameLook") -> bool:
        """Return whether colours, or what is bright and dark, say that this is another scene."""
        colours = float(np.abs(self.colours - other.colours).sum()) / 2
        likeness = self.likeness_to(other)
        if colours > CUT_COLOURS[0] or likeness < CUT_LIKENESS[0]:
            return True
        return colours > CUT_COLOURS[1] and likeness < CUT_LIKENESS[1]

    def likeness_to(self, other: "FrameLook") -> float:
        """Return how far bright and dark parts agree, from -1 to 1."""
        item, two = (look.small.mean(axis=2) for look in (self, other))
        item, two = item - item.mean(), two - two.mean()
        return float((item * two).sum() / max(1e-6, float(np.sqrt((item**2).sum() * (two**2).sum()))))


@dataclass(slots=True)
class KeptFrame:
    """A frame in the pool."""

    look: FrameLook
    scene: int
    jpeg: bytes = field(repr=False)
    size: tuple[int, int]


class FramePool:
    """The frames that are kept: as many as allowed, sharp, and as different as can be."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.kept: list[KeptFrame] = []

    def add(self, new: KeptFrame) -> None:
        """Keep a frame, unless the scene has a better one like it; make room where there is none."""
        for index, old in enumerate(self.kept):
            if old.scene == new.scene and new.look.compute_change(old.look) < _SAME_CONTENT_DIFFERENCE:
                if new.look.worth > old.look.worth:
                    self.kept[index] = new
                return
        self.kept.append(new)
        if len(self.kept) > self._most:
            self._drop_one()

    def _drop_one(self) -> None:
        small = np.stack([item.look.small for item in self.kept])
        scenes = np.array([item.scene for item in self.kept])
        apart = np.abs(small[:, None] - small[None]).mean(axis=(2, 3, 4))
        # A scene keeps one frame as long as there is another scene with two.
        apart += 255.0 * (scenes[:, None] != scenes[None])
        np.fill_diagonal(apart, np.inf)
        item, other = divmod(int(apart.argmin()), len(self.kept))
        duller = min(item, other, key=lambda index: self.kept[index].look.worth)
        del self.kept[duller]


class Scenes:
    """Tells where one scene ends and the next begins, frame by frame."""

    def __init__(self) -> None:
        self.starts: list[float] = []
        self._before: FrameLook | None = None
        self._changes: deque[float] = deque(maxlen=_RECENT)
        self._past: deque[FrameLook] = deque(maxlen=2 * max(_HALVES) + 1)
        self._dark = False
        self._jump: tuple[FrameLook, float] | None = None

    @property
    def unsure(self) -> bool:
        """Return whether only the next frame decides if the latest frame begins a scene."""
        return self._jump is not None

    @property
    def number(self) -> int:
        """The number of the scene that is on, from 0."""
        return max(0, len(self.starts) - 1)

    def see(self, look: FrameLook) -> bool:
        """Take the next frame; true where it begins a scene, or where it shows that the one before it did."""
        before, self._before = self._before, look
        jump, self._jump = self._jump, None
        if look.blank:
            self._dark = True
            return False
        if not self._past or look.seconds - self._past[-1].seconds > 0.9 / CHECKS_PER_SECOND:
            self._past.append(look)
        cut = before is not None and self._is_cut(before, look)
        begins = not self.starts or self._dark or cut or (look is self._past[-1] and self._is_dissolve())
        first = look
        if not begins and jump is not None and look.compute_change(jump[0]) <= jump[1] / JUMP_TIMES:
            begins, first = True, jump[0]
        if begins:
            self.starts.append(first.seconds)
            self._changes.clear()
            self._past.clear()
        elif before is not None:
            change = look.compute_change(before)
            self._jump = (look, change) if self._is_jump(before, look) else None
            self._changes.append(change)
        self._dark = False
        return begins

    def _is_jump(self, before: FrameLook, now: FrameLook) -> bool:
        change = now.compute_change(before)
        if len(self._changes) < JUMP_AFTER or change < max(CUT_LEAST, JUMP_TIMES * max(self._changes)):
            return False
        return now.likeness_to(before) < JUMP_LIKENESS

    def _is_cut(self, before: FrameLook, now: FrameLook) -> bool:
        change = now.compute_change(before)
        usual = float(np.median(self._changes)) if self._changes else 0.0
        return change >= CUT_LEAST and change >= CUT_TIMES * usual and now.is_unlike(before)

    def _is_dissolve(self) -> bool:
        for half in _HALVES:
            if len(self._past) > 2 * half:
                first, middle, last = (self._past[-1 - steps] for steps in (2 * half, half, 0))
                change = last.compute_change(first)
                off = float(np.abs(middle.small - (first.small + last.small) / 2).mean())
                if change >= DISSOLVE_LEAST and off < DISSOLVE_OFF * change and last.is_unlike(first):
                    return True
        return False


def measure_look(frame: "VideoFrame", seconds: float) -> FrameLook:
    """Return a frame as it is compared."""
    small = frame.reformat(*LOOK_PX, format="rgb24", interpolation="AREA").to_ndarray().astype(np.float32)
    binned = (small.reshape(-1, 3) // 64).astype(np.int64) @ np.array([16, 4, 1])
    colours = (np.bincount(binned, minlength=64) / len(binned)).astype(np.float32)
    return FrameLook(seconds, small, colours)


def measure_sharpness(frame: "VideoFrame") -> tuple[float, float]:
    """Return how much fine detail a frame has and how crisp it is, see `measure_detail`."""
    scale = min(1.0, DETAIL_PX / max(frame.width, frame.height))
    size = max(32, round(frame.width * scale)), max(32, round(frame.height * scale))
    return measure_detail(frame.reformat(*size, format="gray", interpolation="AREA").to_ndarray().astype(np.float32))


def measure_detail(grey: Floats) -> tuple[float, float]:
    """Return how much fine detail the richest quarter of a picture has, and how fine its edges are.

    The second hardly hangs on what is shown, so that it tells blur: a sign on a plain wall has little detail and crisp
    edges, a smeared hedge much and none. Edges count in the direction in which they are weaker, since a pan smears one.
    """
    rows, columns = grey.shape

    def shift(down: int, across: int) -> Floats:
        return grey[_WIDE + down : rows - _WIDE + down, _WIDE + across : columns - _WIDE + across]

    middle = shift(0, 0)
    directions = ((0, 1), (1, 0))
    fine = [_blocks(np.abs(shift(y, x) + shift(-y, -x) - 2 * middle)) for y, x in directions]
    coarse = [_blocks(np.abs(shift(_WIDE * y, _WIDE * x) - shift(-_WIDE * y, -_WIDE * x))) for y, x in directions]
    weaker = np.minimum(*fine)
    count = max(1, round(_TEXTURED * weaker.size))
    richest = np.argsort(coarse[0] + coarse[1])[-count:]
    crisp = min(
        float(one[richest].sum() / max(1e-3, other[richest].sum())) for one, other in zip(fine, coarse, strict=True)
    )
    return float(np.sort(weaker)[-count:].mean()), crisp


def _blocks(edges: Floats) -> Floats:
    rows, columns = edges.shape
    tall, wide = max(1, rows // _BLOCKS), max(1, columns // _BLOCKS)
    cut = edges[: rows // tall * tall, : columns // wide * wide]
    means: Floats = cut.reshape(cut.shape[0] // tall, tall, cut.shape[1] // wide, wide).mean(axis=(1, 3)).ravel()
    return means


class Decoder:
    """Goes through a clip once."""

    def __init__(self, stream: BinaryIO, limits: VideoLimits, send: "Sender") -> None:
        self._stream, self._limits, self._send = stream, limits, send
        self._pool, self._scenes = FramePool(limits.max_kept), Scenes()
        self._best: tuple[VideoFrame, FrameLook, int] | None = None
        self._slot = -1
        self._decoded, self._errors = 0, 0
        self._last_s, self._looked_s = 0.0, -1.0
        self._notes: list[str] = []

    def work(self, container: VideoContainer) -> None:
        """Read the clip and send what is kept.

        Raises:
            Refusal: nothing of it can be read.
        """
        import av

        options = {
            "protocol_whitelist": "none",
            "format_whitelist": container.demuxers,
            "codec_whitelist": ",".join(CODECS),
            "max_pixels": str(self._limits.max_pixels),
            "probesize": str(8 * 1024**2),
            **container.options,
        }
        try:
            opened = av.open(
                self._stream, "r", format=container.demuxer, options=options, metadata_errors="replace", io_open=_refuse
            )
        except (av.error.FFmpegError, OSError, ValueError, OverflowError) as error:
            raise Refusal(_DAMAGED) from error
        with opened:
            stream = self._choose_stream(opened)
            for frame, seconds in self._frames(opened, stream):
                self._see(frame, seconds)
            self._close_slot()
            promised_s = _duration_s(opened, stream) or 0.0
            if not self._notes and self._last_s < _WHOLE * promised_s - 1:
                self._note(f"it ends after {self._last_s:.0f} s, though it should last {promised_s:.0f} s")
            if not self._pool.kept:
                raise Refusal(_DAMAGED if not self._decoded else "it shows nothing but black")
            self._tell(opened, stream)

    def _choose_stream(self, opened: "InputContainer") -> "VideoStream":
        limits = self._limits
        if len(opened.streams) > limits.max_streams:
            raise Refusal(f"it has {len(opened.streams)} tracks; {limits.max_streams} are allowed")
        moving = [item for item in opened.streams.video if not _is_cover(item)]
        if not moving:
            raise Refusal("there is no picture in it, or in a form that can't be decoded here")
        stream = moving[0]
        context = stream.codec_context
        # There is none for what FFmpeg has no decoder for.
        name = str(getattr(context, "name", None) or "unknown")
        if name not in CODECS:
            raise Refusal(f"its codec ({name[:20]}) is not supported; convert it to H.264")
        if context.width * context.height > limits.max_pixels:
            raise Refusal(
                f"{context.width} x {context.height} pixels are more than the {limits.max_pixels / 1e6:g} million "
                "allowed; give a smaller copy"
            )
        duration = _duration_s(opened, stream)
        if duration is not None and duration > limits.max_duration_s:
            raise Refusal(f"it is longer than the {limits.max_duration_s / 60:g} minutes allowed; cut it")
        # One thread: each further one holds frames of its own.
        context.thread_count = 1
        rate = float(stream.average_rate or 30)
        if duration is not None and duration * min(rate, 240.0) > limits.max_frames:
            context.skip_frame = "NONKEY"
            self._note("it is long: only its key frames were looked at")
        stream.thread_type = "NONE"
        return stream

    def _frames(self, opened: "InputContainer", stream: "VideoStream") -> "Iterator[tuple[VideoFrame, float]]":
        """Yield frames with their seconds, until the end or a limit."""
        import av

        rate = float(stream.average_rate or 0) or 25.0
        until = time.process_time() + self._limits.cpu_s
        first: float | None = None
        packets = iter(opened.demux(stream))
        while True:
            try:
                packet = next(packets)
                frames = packet.decode()
            except StopIteration:
                return
            except (av.error.FFmpegError, OSError, ValueError) as error:
                self._errors += 1
                self._note("parts of it are damaged and were left out")
                if self._errors > _MAX_ERRORS or isinstance(error, av.error.EOFError):
                    return
                continue
            for frame in frames:
                own = None if frame.pts is None or not frame.time_base else float(frame.pts * frame.time_base)
                first = own if first is None and own is not None else first
                seconds = self._decoded / rate if own is None else max(0.0, own - (first or 0.0))
                self._decoded += 1
                if seconds > self._limits.max_duration_s or self._decoded > self._limits.max_frames:
                    self._note(f"only the first {self._last_s:.0f} s were looked at")
                    return
                if frame.width * frame.height <= self._limits.max_pixels:
                    yield frame, seconds
            if time.process_time() > until:
                self._note(f"only the first {self._last_s:.0f} s were looked at: it takes long to decode")
                return

    def _note(self, words: str) -> None:
        if words not in self._notes:
            self._notes.append(words)

    def _see(self, frame: "VideoFrame", seconds: float) -> None:
        self._last_s = max(self._last_s, seconds)
        self._send.progress(seconds)
        look = measure_look(frame, round(seconds, 3))
        begins = self._scenes.see(look)
        slot = int(seconds / SLOT_S)
        due = begins or abs(seconds - self._looked_s) > 1 / CHECKS_PER_SECOND - 1e-3
        if look.blank or self._scenes.unsure or not due:
            return
        self._looked_s = seconds
        look.sharpness, look.crisp = measure_sharpness(frame)
        if begins or slot != self._slot:
            self._close_slot()
            self._slot = slot
        if self._best is None or look.worth > self._best[1].worth:
            self._best = frame, look, self._scenes.number

    def _close_slot(self) -> None:
        if self._best is None:
            return
        frame, look, scene = self._best
        self._best = None
        jpeg, size = _jpeg(frame)
        self._pool.add(KeptFrame(look, scene, jpeg, size))

    def _tell(self, opened: "InputContainer", stream: "VideoStream") -> None:
        starts = self._scenes.starts
        ends = [*starts[1:], max(self._last_s, starts[-1])]
        for item in sorted(self._pool.kept, key=lambda kept: kept.look.seconds):
            self._send(
                {
                    "frame": {
                        "seconds": item.look.seconds,
                        "scene": item.scene,
                        "sharpness": round(item.look.sharpness, 4),
                        "crisp": round(item.look.crisp, 4),
                        "size_px": item.size,
                    }
                },
                item.jpeg,
            )
        context = stream.codec_context
        duration = _duration_s(opened, stream)
        self._send(
            {
                "done": {
                    # A header may say anything; what was seen is at least true.
                    "seconds": round(max(self._last_s, min(duration or 0.0, self._limits.max_duration_s)), 3),
                    "size_px": [context.width, context.height],
                    "codec": context.codec.name,
                    "decoded": self._decoded,
                    "scenes": [[round(start, 3), round(end, 3)] for start, end in zip(starts, ends, strict=True)],
                    "notes": self._notes,
                }
            }
        )


def _refuse(_url: str, _flags: int, _options: Mapping[str, str]) -> BinaryIO:
    """Stand where FFmpeg would open another file."""
    raise PermissionError("a clip may open no other file")


def _is_cover(stream: "VideoStream") -> bool:
    """Return whether a track is a still picture, as players show it for a song."""
    return bool(stream.disposition & type(stream.disposition).attached_pic)


def _duration_s(opened: "InputContainer", stream: "VideoStream") -> float | None:
    """Return how long the header says that it is."""
    if stream.duration and stream.time_base:
        return float(stream.duration * stream.time_base)
    return opened.duration / 1e6 if opened.duration and opened.duration > 0 else None


def _jpeg(frame: "VideoFrame") -> tuple[bytes, tuple[int, int]]:
    """Return a frame upright, as JPEG without anything but pixels."""
    from PIL import Image

    scale = min(1.0, (_MAX_KEPT_PX / (frame.width * frame.height)) ** 0.5)
    size = max(1, round(frame.width * scale)), max(1, round(frame.height * scale))
    image = Image.fromarray(frame.reformat(*size, format="rgb24").to_ndarray())
    turns = {90: Image.Transpose.ROTATE_90, 180: Image.Transpose.ROTATE_180, 270: Image.Transpose.ROTATE_270}
    if turn := turns.get(round(getattr(frame, "rotation", 0) / 90) * 90 % 360):
        image = image.transpose(turn)
    stream = io.BytesIO()
    image.save(stream, "JPEG", quality=_QUALITY)
    return stream.getvalue(), image.size


class Sender:
    """Writes messages: the length of a line of JSON and of what follows it, the line, and that."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._told = 0.0

    def __call__(self, message: Mapping[str, Any], blob: bytes = b"") -> None:
        """Write a message."""
        line = json.dumps(message).encode()
        self._stream.write(struct.pack(">II", len(line), len(blob)) + line + blob)
        self._stream.flush()

    def progress(self, seconds: float) -> None:
        """Say how far it is, now and then."""
        if time.monotonic() - self._told > _NEWS_S:
            self._told = time.monotonic()
            self({"at": round(seconds, 2)})


def main() -> None:
    """Decode what standard input holds."""
    limits = VideoLimits(**json.loads(sys.argv[1]))
    _die_with_parent()
    stream, out = os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nowhere, number)
    _import_all()
    send = Sender(out)
    confine(limits)
    try:
        container = detect_container(stream.read(64))
        stream.seek(0)
        if container is None:
            raise Refusal("this is no video that can be opened; give an MP4, MOV, MKV, WebM or AVI file")
        Decoder(stream, limits, send).work(container)
    except Refusal as error:
        send({"error": str(error)})
    except MemoryError:
        send({"error": "it needs more memory than is allowed; give a smaller copy"})
    except Exception as error:  # noqa: BLE001  (what decoders raise on damaged data is not documented)
        send({"error": _DAMAGED, "why": type(error).__name__})


def _import_all() -> None:
    """Import what decoding imports late, and rehearse it: once confined, no module can be opened any more."""
    import pkgutil
    from importlib import import_module

    import av

    for module in pkgutil.walk_packages(av.__path__, "av."):
        if module.name.rpartition(".")[2] not in ("__main__", "datasets"):
            import_module(module.name)
    av.logging.set_level(av.logging.PANIC)
    frame, scenes, pool = av.VideoFrame(32, 32, "yuv420p"), Scenes(), FramePool(1)
    look = measure_look(frame, measure_sharpness(frame)[0])
    jpeg, size = _jpeg(frame)
    for number in range(3):
        look = FrameLook(number, look.small + 80 * number, look.colours, 1.0)
        scenes.see(look)
        pool.add(KeptFrame(look, number, jpeg, size))


def confine(limits: VideoLimits) -> None:
    """Give up memory, time and the right to open anything, where the system can hold us to it."""
    with suppress(ImportError):
        import resource

        seconds = int(limits.cpu_s) + _SPARE_CPU_S + int(time.process_time())
        for kind, most in (
            (resource.RLIMIT_AS, limits.memory_bytes),
            (resource.RLIMIT_CPU, seconds),
            (resource.RLIMIT_FSIZE, 0),
            # What is open stays open; a new file or socket would need a number that is not given out any more.
            (resource.RLIMIT_NOFILE, 0),
        ):
            with suppress(OSError, ValueError):
                _, hard = resource.getrlimit(kind)
                least = most if hard == resource.RLIM_INFINITY else min(most, hard)
                resource.setrlimit(kind, (least, least))


def _die_with_parent() -> None:
    if sys.platform == "linux":
        import ctypes

        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL, 0, 0, 0)


if __name__ == "__main__":
    main()
