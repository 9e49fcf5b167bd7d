"""RapidOCR: finds lines in any script, reads Latin, Chinese and Japanese, from the models in its own wheel."""

import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from geosleuth.errors import BadInput
from geosleuth.photo.runtime import import_onnxruntime, no_probing

from .strips import Pixels, Quad, with_slack

THREADS = 2
DETECT, READ, TURN = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx", "ch_ppocr_mobile_v2.0_cls_mobile.onnx"
QUICK = Path(__file__).parent / "data" / "detector.onnx"
LARGE_PIXELS = 800_000
"""Larger pictures are searched with the quick detector; cuts of signs with RapidOCR's own, which sees a little more."""

FINE_SHORT_SIDE_PX = 736
_LOADING, _RUNNING = Lock(), Lock()


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """A part that looks like a line of text, in pixels, and how much it does, 0 to 1."""

    quad: Quad
    score: float


def find_boxes(pixels: Pixels, detail_px: int) -> list[Box]:
    """Boxes of lines in pixels of the given picture, searched with its long side at most ``detail_px``."""
    import cv2

    height, width = pixels.shape[:2]
    finer = max(1.0, FINE_SHORT_SIDE_PX / min(height, width))
    scale = min(finer, detail_px / max(height, width))
    size = max(32, math.ceil(width * scale)), max(32, math.ceil(height * scale))
    way = cv2.INTER_AREA if scale < 1 else cv2.INTER_LINEAR
    seen = with_slack(cv2.resize(pixels, size, interpolation=way)[:, :, ::-1])
    # Called by its parts: the whole sorts boxes and leaves their scores unsorted.
    detector = _engine()._load_det_model()  # noqa: SLF001  (it has no public way)
    with _RUNNING:
        ready = detector.get_preprocess()(seen)
        if ready is None:
            return []
        large = size[0] * size[1] > LARGE_PIXELS
        found = _quick_detector().run(None, {"x": ready.astype(np.float32)})[0] if large else detector.session(ready)
        quads, scores = detector.postprocess_op(found, seen.shape[:2])
    stretch = np.array([width / size[0], height / size[1]], dtype=np.float32)
    pairs = zip(quads, scores, strict=True)
    return [Box(np.asarray(quad, dtype=np.float32) * stretch, float(score)) for quad, score in pairs]


def read_strips(strips: list[Pixels]) -> list[tuple[str, float]]:
    """Text and confidence of level colour strips."""
    if not strips:
        return []
    with _RUNNING:
        read = _engine().recognize_txt([with_slack(strip[:, :, ::-1]) for strip in strips])
    return [(str(text), float(score)) for text, score in zip(read.txts, read.scores, strict=True)]


@cache
def _quick_detector() -> Any:
    """A smaller detector of the same family: on 19 real photos it found as much, at half the cost."""
    runtime = import_onnxruntime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = THREADS
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return runtime.InferenceSession(str(QUICK), options, providers=["CPUExecutionProvider"])


def _engine() -> Any:
    with _LOADING:
        return _load()


@cache
def _load() -> Any:
    import_onnxruntime()
    try:
        with no_probing():
            import rapidocr

            # Named here because its parts are only imported when they are.
            reader = rapidocr.RapidOCR
    except ImportError as error:
        raise BadInput(f"Reading text needs rapidocr, which can't be loaded here: {error}") from error
    models = Path(rapidocr.__file__).parent / "models"
    paths = {part: models / name for part, name in (("Det", DETECT), ("Rec", READ), ("Cls", TURN))}
    if missing := [path.name for path in paths.values() if not path.is_file()]:
        # With no path given, RapidOCR would fetch its models over the network.
        raise BadInput(f"The installed rapidocr lacks {', '.join(missing)}: install rapidocr 3.10.")
    settings = {f"{part}.model_path": str(path) for part, path in paths.items()}
    return reader(
        params=settings
        | {
            "Global.log_level": "critical",
            "Global.text_score": 0.0,
            "Global.use_preprocess_img": False,
            "Det.limit_type": "max",
            "Det.limit_side_len": 4096,
            "EngineConfig.onnxruntime.intra_op_num_threads": THREADS,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
