"""How well text that is laid over a photo is told from text in the scene.

    python benchmarks/overlays.py [FOLDER… --words FILE.jsonl] [--json] [--check]

Draws 60 captions, camera stamps and credits over photos and counts how many of those that are read are marked as
overlays. The folders hold real photos; without one, the example photos of the repository are drawn on. ``--words``
names a JSONL file of what a person read in each photo (``file``, ``lines`` with ``text`` and ``what``: scene, object or
overlay): the overlays that are in the photos already are counted too, and scene text that is marked wrongly.
Without it, the example photos stand for scene text. ``--check`` exits with 1 where under 90 % of overlays or over 3 %
of scene text is marked.
"""

import argparse
import io
import json
import os
import platform
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont
from rapidfuzz import fuzz

from geosleuth.photo.text import TextLine, read_text

ROOT = Path(__file__).resolve().parents[1]
FONTS = ROOT / "src/geosleuth/atlas/maps/fonts"
CASES = 60
PROMISED_MARKED, PROMISED_SCENE = 0.90, 0.03
ALIKE = 70
CAPTIONS = (
    ("sans-semibold", "Where is this?"), ("sans-semibold", "Guess the country"), ("sans-semibold", "Episode 12"),
    ("chinese-simplified", "这是哪里"), ("chinese-simplified", "猜猜这个城市"), ("japanese", "ここはどこ"),
    ("sans-semibold", "Breaking News: flood in the north"), ("sans-semibold", "Нове відео щодня"),
    ("korean", "여기는 어디일까요"), ("sans-semibold", "Regardez la suite"),
)  # fmt: skip
STAMPS = (
    "2024-03-18 07:41:22", "18.03.2024 07:41", "2019/07/04 12:30:05 PM", "'98 7 14", "05-07-2015 8:08:31 AM",
    "2021-11-02 23:15", "12:30:44 24°C", "REC 00:12:41 2023-05-06", "IMG_20230506_121314", "2017.08.09 16:20",
)  # fmt: skip
CREDITS = (
    "© 2022 Google", "© 2023 Google", "Image capture: Jun 2019 © 2021 Google", "© Mapillary contributors",
    "Map data © 2024",
    "© 2018 Baidu", "Getty Images", "Copyright 2020 M. Keller", "© Yandex", "百度街景",
)  # fmt: skip


def cases(photos: Sequence[Path], seed: int = 7) -> Iterator[tuple[Image.Image, str]]:
    """Photos with one overlay each, and its text."""
    draw = random.Random(seed)
    for number in range(CASES):
        with Image.open(photos[number % len(photos)]) as opened:
            image = opened.convert("RGB")
        image.thumbnail((1600, 1600))
        kind = number % 3
        font, text = (
            CAPTIONS[number // 3 % 10]
            if kind == 0
            else ("sans-semibold", (STAMPS, CREDITS)[kind - 1][number // 3 % 10])
        )
        if any("\u4e00" <= letter <= "\u9fff" for letter in text):
            font = "chinese-simplified"
        size = max(15, round(image.height * (draw.uniform(0.04, 0.07) if kind == 0 else draw.uniform(0.022, 0.035))))
        loaded = ImageFont.truetype(str(FONTS / f"{font}.woff2"), size)
        wide = loaded.getlength(text)
        x = draw.choice([0.02 * image.width, max(4, (image.width - wide) / 2), max(4, 0.98 * image.width - wide)])
        y = image.height - 1.6 * size if kind or draw.random() < 0.6 else draw.uniform(0.04, 0.2) * image.height
        pen = ImageDraw.Draw(image)
        colour = (
            draw.choice(["white", "white", "yellow"])
            if kind == 0
            else draw.choice(["white", "#ff9a1f" if kind == 1 else "white"])
        )
        outline = max(1, size // 14) if kind == 0 or colour == "white" else 0
        pen.text((x, y), text, font=loaded, fill=colour, stroke_width=outline, stroke_fill="black")
        buffer = io.BytesIO()
        image.save(buffer, "JPEG", quality=draw.randint(80, 95))
        yield Image.open(buffer).convert("RGB"), text


def found_of(lines: Sequence[TextLine], text: str) -> list[TextLine]:
    """The lines that are this text or a part of it."""
    return [
        line
        for line in lines
        if fuzz.partial_ratio(line.text.lower(), text.lower()) >= ALIKE and len(line.text) >= min(4, len(text))
    ]


def main() -> int:
    """Measure and print."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("folders", type=Path, nargs="*", default=[ROOT / "examples/photos"])
    options.add_argument("--words", type=Path)
    options.add_argument("--show", action="store_true")
    options.add_argument("--json", action="store_true")
    options.add_argument("--check", action="store_true")
    chosen = options.parse_args()
    photos = sorted(path for folder in chosen.folders for path in folder.rglob("*.jpg"))
    if not photos:
        print(f"No photos in {', '.join(map(str, chosen.folders))}", file=sys.stderr)
        return 2
    counts = {"overlays_read": 0, "overlays_marked": 0, "scene_lines": 0, "scene_marked": 0, "unread_overlays": 0}
    words = (
        {row["file"]: row for row in map(json.loads, chosen.words.read_text(encoding="utf-8").splitlines())}
        if chosen.words
        else {}
    )
    chosen_photos = [path for path in photos if not words.get(path.name, {}).get("lines")] if words else photos
    for image, text in cases(chosen_photos[:: max(1, len(chosen_photos) // CASES)]):
        lines = found_of(read_text(image), text)
        count(counts, lines, overlay=True, show=chosen.show, unread=text)
    for path in photos:
        told = [
            line
            for line in words.get(path.name, {}).get("lines", ())
            if line["what"] in ("scene", "overlay") and line["legible"] == "clear"
        ]
        if told:
            with Image.open(path) as opened:
                lines = read_text(opened.convert("RGB"))
            for line in lines:
                best = max(told, key=lambda one: fuzz.ratio(one["text"].lower(), line.text.lower()))
                if fuzz.ratio(best["text"].lower(), line.text.lower()) >= ALIKE:
                    count(counts, [line], overlay=best["what"] == "overlay", show=chosen.show)
    if not words:
        for line in (one for path in photos for one in read_text(Image.open(path).convert("RGB"))):
            count(counts, [line], overlay=False, show=chosen.show)
    return report(counts, chosen)


def count(counts: dict[str, int], lines: Sequence[TextLine], *, overlay: bool, show: bool, unread: str = "") -> None:
    """Add what was read of one text."""
    if overlay and not lines:
        counts["unread_overlays"] += 1
        if show:
            print(f"not read: {unread}")
        return
    marked = any(line.overlay for line in lines)
    counts["overlays_read" if overlay else "scene_lines"] += 1
    counts["overlays_marked" if overlay else "scene_marked"] += marked
    if show and marked != overlay:
        print(f"{'missed' if overlay else 'wrongly marked'}: {' | '.join(line.text for line in lines)}")


def report(counts: dict[str, int], chosen: argparse.Namespace) -> int:
    """Print, and judge where asked."""
    marked = counts["overlays_marked"] / max(1, counts["overlays_read"])
    scene = counts["scene_marked"] / max(1, counts["scene_lines"])
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    result: dict[str, Any] = {**counts, "marked": marked, "scene": scene, "machine": machine}
    if chosen.json:
        print(json.dumps(result, indent=2))
    else:
        print(
            f"overlays read and marked   {counts['overlays_marked']} of {counts['overlays_read']} ({marked:.0%}); "
            f"{counts['unread_overlays']} not read"
        )
        print(f"scene text so marked       {counts['scene_marked']} of {counts['scene_lines']} ({scene:.1%})")
        print(f"machine: {machine}")
    return int(chosen.check and (marked < PROMISED_MARKED or scene > PROMISED_SCENE))


if __name__ == "__main__":
    sys.exit(main())
