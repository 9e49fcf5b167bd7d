"""Whether the telling frame of a clip is found, what it costs, and what damaged clips do.

    python benchmarks/video.py [--what frames|damaged|length|all] [--count N] [--damaged N] [--keep FOLDER] [--json]
                               [--check]

- frames: clips of drawn street scenes, filmed as a hurried person does: fast pans with motion blur, a lens out of
  focus, zooms, cuts to streets without writing. A board can be read in one short moment only. Found: a frame of that
  moment is among those that the place is located from.
- damaged: clips cut short, with flipped bytes, with lies in their headers, empty, or something else by name. Each is
  taken or refused in one line, within the limits; counted are faults, the longest time, and the most memory.
- length: CPU seconds and memory for clips of one and four times the length.

Scenes are drawn by `lab.scenes`, clips are encoded by PyAV in five containers. ``--keep`` keeps clips and chosen
frames to look at. ``--check`` exits with 1 where fewer than nine of ten are found, or a damaged clip is a fault.
"""

import argparse
import json
import os
import platform
import random
import resource
import struct
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from clips import CODECS, Shot, View, write_clip  # noqa: E402
from drawn_streets import street_scene  # noqa: E402
from geosleuth.lab.scenes.drawing import Drawing, draw_scene  # noqa: E402
from geosleuth.lab.scenes.scene import Board  # noqa: E402
from geosleuth.photo.video import places_shown, read_clip  # noqa: E402
from geosleuth.photo.video_limits import VideoLimits  # noqa: E402
from geosleuth.support.errors import BadInput  # noqa: E402

PROMISED = 0.9
BOARDS: tuple[Board, ...] = ("shop_front", "street_plate", "bus_stop", "town_sign", "billboard")
LANDS = ("de", "pt", "ja")
SIZE = (1632, 1224)
MOST_S, MOST_MIB = 60.0, 1024.0
"""What a damaged clip may take: seconds by the clock, and memory."""


@dataclass(frozen=True)
class Filmed:
    """A clip, and from when to when its board can be read."""

    path: Path
    words: str
    moment: tuple[float, float]
    seconds: float


def with_board(number: int) -> tuple[Drawing, tuple[float, float], str]:
    """A street with one board to read, and where its middle is."""
    chance = random.Random(f"video {number}")
    land, board = LANDS[number % len(LANDS)], BOARDS[number % len(BOARDS)]
    for seed in range(100):
        scene = street_scene(land, (board,), seed=1000 * number + seed, size=SIZE)
        drawing = draw_scene(scene)
        marks = [mark for mark in drawing.marks if mark.line is not None and (mark.letter_px or 0) > 20]
        if marks:
            left, top, right, bottom = chance.choice(marks).box
            return drawing, ((left + right) / 2 / SIZE[0], (top + bottom) / 2 / SIZE[1]), scene.clues[0].lines[0]
    raise RuntimeError("no board large enough was drawn")


def filmed(number: int, folder: Path) -> Filmed:
    """One clip: a street without writing, the street with the board, another without."""
    chance = random.Random(f"filmed {number}")
    drawing, (x, y), words = with_board(number)
    plain = [
        draw_scene(street_scene(LANDS[(number + k) % 3], (), seed=50 + 2 * number + k, size=SIZE)).image for k in (1, 2)
    ]
    smear, soft = chance.uniform(14, 26), chance.uniform(0, 2)
    stays = chance.uniform(0.35, 0.7)
    away = 0.15 if x > 0.5 else 0.85
    first, last = 1.0, 1.0
    hurried = (
        View(0.0, away, 0.5, 0.8, smear, soft),
        View(1.1, x, y, 0.6, smear, soft),
        View(1.2, x, y, 0.42),
        View(1.2 + stays, x, y, 0.40),
        View(1.3 + stays, x, y, 0.5, smear, soft),
        View(2.3 + stays, 1 - away, 0.5, 0.8, smear, soft),
    )
    shots = [
        Shot(plain[0], (View(0, 0.3, 0.5, 0.7), View(first, 0.4, 0.5, 0.7))),
        Shot(drawing.image, hurried),
        Shot(plain[1], (View(0, 0.5, 0.5, 0.9), View(last, 0.5, 0.5, 0.7))),
    ]
    ending = sorted(CODECS)[number % len(CODECS)]
    path = write_clip(folder / f"clip-{number}.{ending}", shots, rate=chance.choice((24, 25, 30)))
    return Filmed(path, words, (first + 1.15, first + 1.25 + stays), sum(shot.seconds for shot in shots))


def find_frames(count: int, folder: Path, keep: Path | None) -> dict[str, Any]:
    """Look for the telling frame of each clip."""
    rows = []
    for number in range(count):
        clip = filmed(number, folder)
        children, own = _children_s(), time.process_time()
        read = read_clip(clip.path)
        decoding, own = _children_s() - children, time.process_time()
        shown = places_shown(read)
        low, high = clip.moment
        chosen = [frame for place in shown for frame in place.frames]
        hits = [frame for frame in chosen if low <= frame.seconds <= high]
        rows.append(
            {
                "clip": clip.path.name,
                "board": clip.words,
                "moment": [round(low, 2), round(high, 2)],
                "chosen": [frame.seconds for frame in chosen],
                "read": sorted({line.text for frame in hits for line in frame.lines}),
                "found": bool(hits),
                "scenes": len(read.scenes),
                "places": len(shown),
                "decoding_cpu_s": round(decoding, 2),
                "choosing_cpu_s": round(time.process_time() - own, 2),
            }
        )
        if keep is not None:
            for frame in chosen:
                frame.open_photo().photo.image.save(keep / f"{clip.path.stem}-{frame.seconds:.2f}.png")
    return {"clips": rows, "found": sum(row["found"] for row in rows), "of": count}


def spoilt(whole: bytes, number: int) -> tuple[str, bytes]:
    """Return a damaged clip, and how it was damaged."""
    chance = random.Random(f"spoilt {number}")
    data = bytearray(whole)
    kind = ("cut", "flipped", "header", "sizes", "zeros", "other")[number % 6]
    if kind == "cut":
        del data[chance.randrange(0, len(data)) :]
    elif kind == "flipped":
        for _ in range(chance.choice((1, 10, 200, 2000))):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif kind == "header":
        for _ in range(chance.randrange(1, 40)):
            data[chance.randrange(8, min(2000, len(data)))] = chance.randrange(256)
    elif kind == "sizes":
        at = [index for index in range(len(data) - 8) if data[index : index + 4] in _NAMED]
        for _ in range(3):
            where = chance.choice(at) if at else 16
            struct.pack_into(">I", data, where + chance.randrange(4, 60), chance.choice((0, 1, 0x7FFFFFFF, 0xFFFFFFFF)))
    elif kind == "zeros":
        start = chance.randrange(len(data))
        data[start : start + chance.randrange(1, 5000)] = bytes(1) * chance.randrange(1, 5000)
    else:
        data = bytearray(chance.choice(_OTHERS))
    return kind, bytes(data)


_NAMED = (
    b"mvhd",
    b"tkhd",
    b"mdhd",
    b"stsz",
    b"stco",
    b"stts",
    b"stsd",
    b"stsc",
    b"avcC",
    b"trak",
    b"moov",
    b"strh",
    b"avih",
)
_OTHERS = (
    b"",
    b"#EXTM3U\n#EXTINF:10,\nfile:///etc/passwd\n",
    b"ffconcat version 1.0\nfile /etc/passwd\n",
    b"\0\0\0\x18ftypisom" + bytes(16),
    b"\x1aE\xdf\xa3" + bytes(60),
    b"RIFF\xff\xff\xff\xffAVI LIST",
    b"<?xml version='1.0'?><MPD><BaseURL>http://127.0.0.1/</BaseURL></MPD>",
)


def attack(count: int, folder: Path) -> dict[str, Any]:
    """Read damaged clips; each in a process of its own, as all clips are."""
    wholes = [filmed(number, folder).path for number in range(len(CODECS))]
    limits = VideoLimits(cpu_s=20, memory_bytes=2 * 1024**3)
    taken = refused = 0
    faults: list[str] = []
    longest = 0.0
    for number in range(count):
        source = wholes[number % len(wholes)]
        kind, data = spoilt(source.read_bytes(), number)
        path = folder / f"spoilt-{number}{source.suffix}"
        path.write_bytes(data)
        began = time.monotonic()
        try:
            read_clip(path, limits)
            taken += 1
        except BadInput as error:
            refused += 1
            if "\n" in str(error) or len(str(error)) > 400:
                faults.append(f"{path.name} ({kind}): not one line")
        except Exception as error:  # noqa: BLE001  (that is what is looked for)
            faults.append(f"{path.name} ({kind}): {type(error).__name__}: {error}")
        longest = max(longest, time.monotonic() - began)
        path.unlink()
    most_mib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    if longest > MOST_S:
        faults.append(f"one took {longest:.0f} s")
    if most_mib > MOST_MIB:
        faults.append(f"one took {most_mib:.0f} MiB")
    return {
        "clips": count, "taken": taken, "refused": refused, "faults": faults,
        "longest_s": round(longest, 1), "most_mib": round(most_mib),
    }  # fmt: skip


def lengths(folder: Path) -> dict[str, Any]:
    """Decode a clip, and one of four times its length."""
    picture = draw_scene(street_scene("de", ("shop_front",), size=SIZE)).image
    out = {}
    for seconds in (15, 60):
        views = tuple(View(at, 0.3 + 0.4 * (at // 5 % 2), 0.5, 0.6) for at in range(0, seconds + 1, 5))
        path = write_clip(folder / f"long-{seconds}.mp4", [Shot(picture, views)], rate=10)
        before = _children_s()
        clip = read_clip(path)
        out[f"{seconds} s"] = {"cpu_s": round(_children_s() - before, 2), "frames_kept": len(clip.frames)}
    return out


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def told(figures: dict[str, Any]) -> Iterator[str]:
    """The figures for people."""
    if "frames" in figures:
        for row in figures["frames"]["clips"]:
            mark = "found " if row["found"] else "MISSED"
            reads = ", ".join(row["read"])
            yield (
                f"{mark} {row['clip']}: {row['board']} can be read from {row['moment'][0]} to {row['moment'][1]} s; "
                f"chosen {row['chosen']}; reads {reads}; {row['scenes']} scenes, {row['places']} places; "
                f"CPU {row['decoding_cpu_s']} s decoding, {row['choosing_cpu_s']} s choosing"
            )
        yield f"the telling frame was found in {figures['frames']['found']} of {figures['frames']['of']} clips"
    if "damaged" in figures:
        one = figures["damaged"]
        yield (
            f"{one['clips']} damaged clips: {one['taken']} taken, {one['refused']} refused in one line, "
            f"{len(one['faults'])} faults; longest {one['longest_s']} s, most memory {one['most_mib']} MiB"
        )
        yield from one["faults"]
    for length, one in figures.get("length", {}).items():
        yield f"{length}: CPU {one['cpu_s']} s, {one['frames_kept']} frames kept"


def main() -> int:
    """Measure; 1 where a promise is broken."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--what", choices=("frames", "damaged", "length", "all"), default="all")
    parser.add_argument("--count", type=int, default=10, help="clips of drawn scenes")
    parser.add_argument("--damaged", type=int, default=100, help="damaged clips")
    parser.add_argument("--keep", type=Path, help="a folder for the clips and the chosen frames")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    figures: dict[str, Any] = {}
    with TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if given.what in ("frames", "all"):
            figures["frames"] = find_frames(given.count, folder, given.keep)
        if given.what in ("damaged", "all"):
            figures["damaged"] = attack(given.damaged, folder)
        if given.what in ("length", "all"):
            figures["length"] = lengths(folder)
    if given.json:
        print(json.dumps(figures))
    else:
        print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
        print("\n".join(told(figures)))
    missed = "frames" in figures and figures["frames"]["found"] < PROMISED * figures["frames"]["of"]
    broken = missed or bool(figures.get("damaged", {}).get("faults"))
    return int(given.check and broken)


if __name__ == "__main__":
    sys.exit(main())
