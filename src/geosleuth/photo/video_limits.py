"""Limits of a clip, and the kinds that are opened at all."""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from .containers import HEIC_BRANDS

# Codecs of phones, cameras, screen recorders and browsers; FFmpeg has hundreds more, few of them well reviewed.
CODECS = (
    "h264", "hevc", "av1", "libdav1d", "vp8", "vp9", "libvpx", "libvpx-vp9", "mpeg4", "mpeg2video", "mpeg1video",
    "mjpeg", "prores", "h263", "dvvideo", "ffv1",
)  # fmt: skip

# Bytes at the start of a file that identify its type.
HEAD_BYTES = 64

ENDINGS = (".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi")


@dataclass(frozen=True, slots=True)
class VideoLimits:
    """Limits of a clip.

    ``max_frames`` counts decoded frames; of a clip that has more, only key frames are looked at. ``cpu_s`` and
    ``memory_bytes`` are those of the process that decodes; after ``cpu_s`` it stops and gives what it has.
    ``max_kept`` is how many frames it keeps to choose from.
    """

    max_bytes: int = 4 * 1024**3
    max_pixels: int = 36_000_000
    max_duration_s: float = 4 * 3600.0
    max_frames: int = 40_000
    max_streams: int = 32
    max_kept: int = 40
    cpu_s: float = 300.0
    memory_bytes: int = 3 * 1024**3

    @property
    def wall_s(self) -> float:
        """By the clock; a busy machine takes longer for the same work."""
        return 60.0 + 4 * self.cpu_s


@dataclass(frozen=True, slots=True)
class VideoContainer:
    """A kind of file: how it is called, which of FFmpeg's demuxers reads it, and what that may not do."""

    name: str
    demuxer: str
    demuxers: str
    options: dict[str, str] = field(default_factory=dict)


# A QuickTime file may name other files as the place of its tracks.
_MOV = VideoContainer("MP4", "mov", "mov,mp4,m4a,3gp,3g2,mj2", {"enable_drefs": "0", "use_absolute_path": "0"})
_MKV = VideoContainer("Matroska", "matroska", "matroska,webm")
_AVI = VideoContainer("AVI", "avi", "avi")


def detect_container(head: bytes) -> VideoContainer | None:
    """Detect a clip's container by its first bytes, not its name; None for anything else, playlists among them."""
    if head[:4] == b"\x1aE\xdf\xa3":
        return _MKV
    if head[:4] == b"RIFF" and head[8:12] == b"AVI ":
        return _AVI
    if head[4:8] == b"ftyp":
        return None if head[8:12] in HEIC_BRANDS else _MOV
    if head[4:8] in (b"moov", b"mdat", b"wide", b"free", b"skip", b"pnot"):
        return _MOV
    return None


def is_video(path: str | os.PathLike[str]) -> bool:
    """Return whether a file is a clip by its first bytes, or is called one."""
    named = os.fspath(path).lower().endswith(ENDINGS)
    with suppress(OSError, ValueError):
        if stat.S_ISREG(Path(path).stat().st_mode):
            with Path(path).open("rb") as stream:
                return named or detect_container(stream.read(HEAD_BYTES)) is not None
    return named
