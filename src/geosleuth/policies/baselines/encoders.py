"""Any network that turns a picture into a row of numbers: those of `load_encoder`, and scripted ones of PyTorch."""

import json
import threading
import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from geosleuth.errors import BadInput, require
from geosleuth.photo.eyes import Encoder, Features, load_encoder
from geosleuth.photo.eyes.encoder import BATCH, digest_of, pooled, unit_rows
from geosleuth.photo.eyes.preparing import Preparation, preparation_of

if TYPE_CHECKING:
    from PIL.Image import Image

SCRIPTED: Final = (".pt", ".ts", ".torchscript")
_SETTINGS: Final = "preprocessor_config.json"
_USUAL_SIDE_PX: Final = 224


def encoder_of(spec: str, *, trust_code: bool = False) -> Encoder:
    """Return what looks at pictures.

    ``eyes``, an ONNX file, a folder that transformers can read, a TorchScript file, or a folder with one ONNX or
    TorchScript file in it. TorchScript runs code of whoever made the file, so it must be asked for.

    Raises:
        BadInput: it is none of these, or is code that nobody asked to run.
    """
    path = _file_of(spec)
    if path.suffix.lower() in SCRIPTED:
        if not trust_code:
            raise BadInput(
                f"{path} is TorchScript, which runs code when it is loaded; if you trust whoever made it, add "
                "--trust-code (in a model's name: ,trust_code=yes), or save the network as ONNX"
            )
        return ScriptedEncoder(path)
    if path.suffix.lower() in (".pth", ".bin", ".safetensors", ".ckpt"):
        raise BadInput(
            f"{path}: weights alone are no network; save one as ONNX or with torch.jit.trace, or give features"
        )
    return load_encoder(spec if spec == "eyes" else str(path))


def is_code(spec: str) -> bool:
    """Return whether an encoder is a file that runs code when it is loaded.

    Raises:
        BadInput: it is a folder without an encoder in it.
    """
    return _file_of(spec).suffix.lower() in SCRIPTED


def _file_of(spec: str) -> Path:
    path = Path(spec).expanduser()
    if path.is_dir() and not (path / "config.json").is_file():
        files = sorted(one for one in path.iterdir() if one.suffix.lower() in (".onnx", *SCRIPTED))
        if len(files) != 1:
            names = ", ".join(one.name for one in files[:5]) or "none"
            raise BadInput(
                f"{path}: an encoder's folder holds a transformers model, or one .onnx or .pt file ({names})"
            )
        return files[0]
    return path


class ScriptedEncoder:
    """A network that torch.jit saved: NetVLAD, GeM, CosPlace or any other that gives a row for a picture.

    Load only files that you trust. ``preprocessor_config.json`` beside it says how pictures are prepared, as
    transformers writes it; without one they are squeezed into 224 pixels and scaled as is usual for ImageNet.
    """

    def __init__(self, path: Path) -> None:
        """Remember the file.

        Raises:
            BadInput: there is none.
        """
        if not path.is_file():
            raise BadInput(f"{path}: there is no such file; check the path")
        self._path = path
        self._lock = threading.Lock()

    @cached_property
    def name(self) -> str:
        """The file's name with a fingerprint of its content."""
        settings = self._path.parent / _SETTINGS
        return f"{self._path.stem}@{digest_of(self._path, *([settings] if settings.is_file() else []))}"

    @cached_property
    def dimension(self) -> int:
        """How many features a picture has; one is looked at to find out."""
        from PIL import Image

        return int(self.features([Image.new("RGB", (64, 64), (127, 127, 127))]).shape[1])

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1.

        Raises:
            BadInput: the file holds no network that looks at pictures.
            MissingExtra: torch is not installed.
        """
        if not images:
            return np.empty((0, self.dimension), dtype=np.float32)
        torch = require("torch", extra="weights")
        with self._lock:
            network, preparation = self._loaded
        rows = []
        for start in range(0, len(images), BATCH):
            given = preparation.rows(images[start : start + BATCH]).transpose(0, 3, 1, 2)
            try:
                with torch.inference_mode():
                    rows.append(pooled(network(torch.from_numpy(np.ascontiguousarray(given))).float().numpy()))
            except (RuntimeError, TypeError, AttributeError, ValueError) as error:
                raise self._trouble("its network can't look at a picture", error) from error
        together = np.concatenate(rows)
        if together.ndim != 2 or len(together) != len(images) or not np.isfinite(together).all():
            raise BadInput(f"{self._path}: its network gives no row of numbers for a picture")
        return unit_rows(together)

    @cached_property
    def _loaded(self) -> tuple[Any, Preparation]:
        torch = require("torch", extra="weights")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)
                network = torch.jit.load(str(self._path), map_location="cpu").eval()
            return network, preparation_of(_settings(self._path.parent / _SETTINGS), _USUAL_SIDE_PX)
        except (OSError, RuntimeError, ValueError, TypeError, AttributeError) as error:
            raise self._trouble("it can't be loaded as a TorchScript network", error) from error

    def _trouble(self, what: str, error: Exception) -> BadInput:
        return BadInput(f"{self._path}: {what}: {' '.join(str(error).split())[:200]}")


def _settings(path: Path) -> Mapping[str, Any]:
    if not path.is_file():
        return {}
    found = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise TypeError(f"{path.name} holds no settings")
    return found
