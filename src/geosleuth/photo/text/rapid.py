"""RapidOCR, from the models in its own wheel: it finds lines in any script, and reads Latin, Chinese and Japanese."""

from functools import cache
from pathlib import Path
from threading import Lock
from typing import Any

from geosleuth.errors import BadInput
from geosleuth.photo.runtime import import_onnxruntime, no_probing

from .strips import Pixels, with_slack

THREADS = 2
DETECT, READ, TURN = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx", "ch_ppocr_mobile_v2.0_cls_mobile.onnx"
RUNNING = Lock()
"""RapidOCR's parts run one at a time."""

_LOADING = Lock()


def rapid_detector() -> Any:
    """Return RapidOCR's detector of lines."""
    # Called by its parts: the whole sorts boxes and leaves their scores unsorted.
    return _engine()._load_det_model()  # noqa: SLF001  (it has no public way)


def read_strips(strips: list[Pixels]) -> list[tuple[str, float]]:
    """Text and confidence of level colour strips."""
    if not strips:
        return []
    with RUNNING:
        read = _engine().recognize_txt([with_slack(strip[:, :, ::-1]) for strip in strips])
    return [(str(text), float(score)) for text, score in zip(read.txts, read.scores, strict=True)]


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
