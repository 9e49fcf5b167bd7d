"""RapidOCR's networks, from its own wheel: one finds lines in any script, one reads Latin, Chinese and Japanese.

Only the networks are used. As a whole it takes a second to import, keeps cores busy while they wait, and reads short
lines as wide as the longest of their batch, which takes twice the time.
"""

from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from geosleuth.photo.runtime import open_packaged_session
from geosleuth.support.errors import BadInput

from .network_outputs import Map, decode_text, extract_boxes
from .strips import Pixels, with_slack

DETECT, READ = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
# A smaller detector of the same family.
QUICK_DETECTOR = Path(__file__).parent / "data" / "detector.onnx"

THREADS = 2
# Height at which a line is read, and width to which it is padded.
LINE_PX = 48, 320

_STEP_PX = 32
_LOADING, _RUNNING = Lock(), Lock()


class _Reader(NamedTuple):
    network: Any
    characters: tuple[str, ...]


def detect_lines(picture: Pixels, *, quick: bool = False) -> tuple[list[tuple[Map, float]], Map]:
    """Return four corners and a score for each line in a picture, and how much each part of it looks like text."""
    import cv2

    height, width = (max(_STEP_PX, round(side / _STEP_PX) * _STEP_PX) for side in picture.shape[:2])
    fitting = cv2.resize(with_slack(picture), (width, height))
    detector = _get_network(QUICK_DETECTOR) if quick else _get_network(_model(DETECT))
    with _RUNNING:
        found = _run_network(detector, _input(np.asarray(fitting, np.uint8), width))
    return extract_boxes(found, picture.shape), found[0, 0]


def read_strips(strips: list[Pixels]) -> list[tuple[str, float]]:
    """Return text and confidence of level colour strips."""
    import cv2

    if not strips:
        return []
    reader = _reader()
    read = []
    for strip in strips:
        tall, wide = strip.shape[:2]
        if tall != LINE_PX[0]:
            wide = -(-wide * LINE_PX[0] // tall)
            strip = np.asarray(cv2.resize(with_slack(strip), (wide, LINE_PX[0])), np.uint8)  # noqa: PLW2901
        with _RUNNING:
            found = _run_network(reader.network, _input(strip, max(wide, LINE_PX[1])))
        read.append(decode_text(found, reader.characters))
    return read


def _input(picture: Pixels, wide: int) -> Map:
    """Return a picture as the networks want it: blue, green, red from -1 to 1, zeros on the right."""
    ready = np.zeros((1, 3, picture.shape[0], wide), dtype=np.float32)
    part = ready[0, :, :, : picture.shape[1]]
    part[...] = picture[:, :, ::-1].transpose(2, 0, 1)
    part *= np.float32(2 / 255)
    part -= 1
    return ready


def _run_network(network: Any, given: Map) -> Map:
    found: Map = network.run(None, {network.get_inputs()[0].name: given})[0]
    return found


def _reader() -> _Reader:
    network = _get_network(_model(READ))
    with _LOADING:
        return _with_characters(network)


@cache
def _with_characters(network: Any) -> _Reader:
    characters = network.get_modelmeta().custom_metadata_map["character"].splitlines()
    return _Reader(network, ("", *characters, " "))


def _get_network(path: Path) -> Any:
    """Return a network, loaded when it is first needed: most photos hold no line to read."""
    with _LOADING:
        return _load_network(path)


@cache
def _load_network(path: Path) -> Any:
    return open_packaged_session(path, threads=THREADS)


@cache
def _model(name: str) -> Path:
    # Found and not imported: its files are all that is needed.
    package = find_spec("rapidocr")
    if package is None or package.origin is None:
        raise BadInput("Reading text needs rapidocr, which is not installed: install geosleuth again.")
    models = Path(package.origin).parent / "models"
    if missing := [item for item in (DETECT, READ) if not (models / item).is_file()]:
        raise BadInput(f"The installed rapidocr lacks {', '.join(missing)}: install rapidocr 3.10.")
    return models / name
