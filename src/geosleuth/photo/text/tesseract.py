"""Tesseract: reads level strips in one script at a time, with the trained data beside this file."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from geosleuth.support.errors import BadInput

from .script import compute_share, tidy
from .strips import Pixels

DATA = Path(__file__).parent / "data"
# Trained data by script. The first of several identifies the script; the others may know letters that it lacks.
MODELS = {
    "cyrillic": ("kaz", "ukr", "srp"),
    "arabic": ("ara", "fas"),
    "greek": ("ell",),
    "thai": ("tha",),
    "hangul": ("kor",),
    "hebrew": ("heb",),
    "devanagari": ("hin",),
    "armenian": ("hye",),
    "georgian": ("kat",),
    "bengali": ("ben",),
    "tamil": ("tam",),
    "ethiopic": ("amh",),
    "telugu": ("tel",),
    "kannada": ("kan",),
    "malayalam": ("mal",),
    "gujarati": ("guj",),
    "gurmukhi": ("pan",),
    "sinhala": ("sin",),
    "myanmar": ("mya",),
}

# Letters that distinguish the language of a later model from the first one's.
OWN_LETTERS = {"ukr": frozenset("їєґЇЄҐ"), "srp": frozenset("јљњћђџЈЉЊЋЂЏ"), "fas": frozenset("پچژگ")}

NOISE_AT_ENDS = " .,·'`´‘’“”-–—_|~^*:;\"»«<>=+\\/،°©®•!()[]{}"
# Minimum letters per line height, for scripts whose letters are wider than most.
MIN_LETTERS = {"hangul": 0.9, "ethiopic": 1.0, "myanmar": 1.0, "malayalam": 1.0}

_LOADING = Lock()


@dataclass(frozen=True, slots=True)
class Guess:
    """Reading of a strip by a script's model; the score (0 to 1) is lower for text with letters of other scripts."""

    script: str
    text: str
    score: float


def guess(script: str, strip: Pixels, *, raw: bool = False) -> Guess:
    """Read a strip with the script's first model; raw takes all ink for text, where none was found otherwise."""
    return _guess(script, MODELS[script][0], strip, raw=raw)


def refine(first: Guess, strip: Pixels) -> Guess:
    """Read again with the script's other models, where it has any, and keep the best."""
    best = first
    for language in MODELS[first.script][1:]:
        other = _guess(first.script, language, strip)
        told = OWN_LETTERS.get(language, frozenset()).intersection(other.text)
        if other.score > best.score + (-0.03 if told else 0.04):
            best = other
    return best


def _guess(script: str, language: str, strip: Pixels, *, raw: bool = False) -> Guess:
    if raw:
        # The margin is read too then: what little of it is left helps, all of it does not.
        rim = strip.shape[0] // 12
        strip = strip[rim:-rim, rim:-rim]
    text, confidence = _read_strip(language, strip, raw=raw)
    shown = strip.shape[1] / strip.shape[0]
    # A letter or two for a long strip is no reading of it, however sure the model is of them.
    expected = MIN_LETTERS.get(script, 1.3) * shown - 0.3
    filled = min(1.0, len(text.replace(" ", "")) / max(1.0, expected))
    return Guess(script, text, confidence * compute_share(script, text) * filled)


def _read_strip(language: str, strip: Pixels, *, raw: bool) -> tuple[str, float]:
    from PIL import Image
    from tesserocr import PSM

    api, lock = _engine(language)
    with lock:
        api.SetPageSegMode(PSM.RAW_LINE if raw else PSM.SINGLE_LINE)
        api.SetImage(Image.fromarray(strip))
        text = tidy(api.GetUTF8Text()).strip(NOISE_AT_ENDS)
        confidence = api.MeanTextConf() / 100
        api.Clear()
    return text, confidence


def _engine(language: str) -> tuple[Any, Any]:
    with _LOADING:
        return _load_tesseract(language)


@cache
def _load_tesseract(language: str) -> tuple[Any, Any]:
    try:
        import tesserocr
    except ImportError as error:
        raise BadInput(f"Reading text needs tesserocr, which can't be loaded here: {error}") from error
    if not (DATA / f"{language}.traineddata").is_file():
        raise BadInput(f"The trained data for {language!r} are missing from {DATA}: install geosleuth again.")
    api = tesserocr.PyTessBaseAPI(
        path=str(DATA), lang=language, psm=tesserocr.PSM.SINGLE_LINE, oem=tesserocr.OEM.LSTM_ONLY
    )
    api.SetVariable("debug_file", "/dev/null")
    return api, Lock()
