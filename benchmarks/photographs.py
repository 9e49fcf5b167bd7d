"""How often screenshots, documents and drawings are told from photographs.

    python benchmarks/photographs.py PHOTOS… [--each 20] [--fit | --check]

PHOTOS are folders of photographs. Of each kind of picture that is none, so many are made (`made_pictures`); photos
inside pages are those of PHOTOS. Half of all, by a hash of their names, is for development; the figures are of the
other half. ``--fit`` fits the model to the half for development, and writes it. The one that ships was fitted outside
this command, to 32 screenshots, 45 documents, 107 drawings and five forms each of 100 photos of that half.
``--check`` exits with 1 where under 90 % are named, or over 3 % of photographs are.
"""

import argparse
import base64
import hashlib
import io
import json
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageEnhance, ImageOps
from playwright.sync_api import sync_playwright

from geosleuth.photo.nature import NATURES, Nature, judge, measures
from made_pictures import browsing, document, drawing

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))
from browser import chromium_path, launched

MODEL = Path(__file__).resolve().parents[1] / "src" / "geosleuth" / "photo" / "data" / "nature.json"
KINDS: tuple[Nature, ...] = NATURES[1:]
PROMISED_NAMED, PROMISED_WRONG = 0.90, 0.03
_HEAVY_PHOTOS, _SHRINK, _ROUNDS, _RATE = 2.0, 4e-3, 2500, 0.02
_PICTURES = (".jpg", ".jpeg", ".png")


def is_held_out(name: str) -> bool:
    """Return whether a picture is in the half that nothing was developed on."""
    return hashlib.sha256(name.encode()).digest()[0] % 2 == 1


def photos_in(folders: Sequence[Path]) -> list[Path]:
    """Return the photos in folders."""
    return sorted(path for folder in folders for path in folder.rglob("*") if path.suffix.lower() in _PICTURES)


def made(each: int, photos: Sequence[Path]) -> Iterator[tuple[str, Image.Image]]:
    """Yield pictures that are no photographs, each with its name."""
    for seed in range(each):
        for kind, maker in (("document", document), ("drawing", drawing)):
            yield f"{kind}-{seed}", Image.open(io.BytesIO(maker(seed))).convert("RGB")
    chromium = chromium_path()
    if chromium is None:
        raise SystemExit("screenshots need Chromium: sh scripts/ensure_chromium.sh")
    with sync_playwright() as playwright:
        browser = launched(playwright, chromium, webgl=False)
        with browsing(browser) as take:
            for seed in range(each):
                data = take(seed, _address(photos[seed * 37 % len(photos)]))
                yield f"screenshot-{seed}", Image.open(io.BytesIO(data)).convert("RGB")
        browser.close()


def _address(photo: Path) -> str:
    image, out = Image.open(photo).convert("RGB"), io.BytesIO()
    image.thumbnail((1000, 1000))
    image.save(out, "JPEG")
    return f"data:image/jpeg;base64,{base64.b64encode(out.getvalue()).decode()}"


def passed_on(image: Image.Image) -> Iterator[Image.Image]:
    """Yield a photo as it may become on its way: gray, small and squeezed, framed, dark."""
    small = image.copy()
    small.thumbnail((480, 480))
    out = io.BytesIO()
    small.save(out, "JPEG", quality=60)
    squeezed = Image.open(out).convert("RGB")
    yield from (ImageOps.grayscale(image).convert("RGB"), squeezed, ImageOps.expand(squeezed, 30, "white"))
    yield ImageEnhance.Brightness(small).enhance(0.35)


def fit(rows: NDArray[np.float64], kinds: NDArray[np.int64]) -> dict[str, list[object]]:
    """Return a multinomial logistic regression, all kinds as heavy as each other and photos twice as heavy."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    given = np.hstack([(rows - mean) / scale, np.ones((len(rows), 1))])
    heavy = 1.0 / np.bincount(kinds, minlength=len(NATURES))
    heavy[0] *= _HEAVY_PHOTOS
    share = (heavy[kinds] / heavy[kinds].sum())[:, None]
    weights = np.zeros((given.shape[1], len(NATURES)))
    first, second = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, _ROUNDS + 1):
        scores = given @ weights
        odds = np.exp(scores - scores.max(axis=1, keepdims=True))
        odds /= odds.sum(axis=1, keepdims=True)
        slope = given.T @ ((odds - np.eye(len(NATURES))[kinds]) * share)
        slope[:-1] += _SHRINK * weights[:-1]
        first, second = 0.9 * first + 0.1 * slope, 0.999 * second + 0.001 * slope**2
        weights -= _RATE * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
    return {"mean": mean.round(5).tolist(), "scale": scale.round(5).tolist(), "weights": weights.round(4).tolist()}


def fitted(photos: Sequence[Path], each: int) -> dict[str, list[object]]:
    """Return the model, fitted to the half for development."""
    rows: list[NDArray[np.float32]] = []
    kinds: list[int] = []
    for path in photos:
        if not is_held_out(_name(path)):
            image = Image.open(path).convert("RGB")
            rows += [measures(one) for one in (image, *passed_on(image))]
            kinds += [0] * (len(rows) - len(kinds))
    for name, image in made(each, photos):
        if not is_held_out(name):
            rows.append(measures(image))
            kinds.append([*NATURES].index(_kind(name)))
    return fit(np.array(rows, dtype=np.float64), np.array(kinds))


def _name(photo: Path) -> str:
    return f"photo:{photo.name}"


def _kind(name: str) -> Nature:
    return next(one for one in NATURES if name.startswith(one))


def report(photos: Sequence[Path], each: int) -> bool:
    """Print both rates of the other half; return whether they are as promised."""
    found: dict[Nature, list[Nature]] = {one: [] for one in NATURES}
    seconds, wrong = [], []
    opened = ((_name(path), Image.open(path).convert("RGB")) for path in photos)
    for name, image in chain(made(each, photos), opened):
        began = time.process_time()
        nature = judge(image).nature
        seconds.append(time.process_time() - began)
        if is_held_out(name):
            found[_kind(name)].append(nature)
            wrong += [name] if (nature == "photo") != (_kind(name) == "photo") else []
    others = [nature for kind in KINDS for nature in found[kind]]
    told = sum(one != "photo" for one in others) / len(others)
    missed = sum(one != "photo" for one in found["photo"]) / len(found["photo"])
    print(f"no photographs, named as such: {100 * told:.1f} % of {len(others)}")
    for kind in KINDS:
        print(f"  {kind}s: {found[kind].count(kind)} of {len(found[kind])} named {kind}")
    print(f"photographs, wrongly named: {100 * missed:.1f} % of {len(found['photo'])}")
    print(f"wrong: {', '.join(wrong) or 'none'}")
    print(f"CPU a picture: median {1000 * float(np.median(seconds)):.1f} ms, most {1000 * max(seconds):.1f} ms")
    return told >= PROMISED_NAMED and missed <= PROMISED_WRONG


def main() -> None:
    """Print both rates, or fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photos", nargs="+", type=Path, metavar="PHOTOS")
    parser.add_argument("--each", type=int, default=20)
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--check", action="store_true")
    words = parser.parse_args()
    photos = photos_in(words.photos)
    if not photos:
        raise SystemExit("no photo in these folders")
    if words.fit:
        MODEL.write_text(json.dumps(fitted(photos, words.each)) + "\n", encoding="utf-8")
        print(f"wrote {MODEL}")
    elif not report(photos, words.each) and words.check:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
