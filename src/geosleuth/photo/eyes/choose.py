"""Finding an encoder by what the user calls it."""

from pathlib import Path

from geosleuth.errors import BadInput

from .encoder import Encoder
from .network import Eyes, OnnxEncoder
from .tower import TowerEncoder

BUNDLED_NAME = "eyes"


def load_encoder(spec: str = BUNDLED_NAME) -> Encoder:
    """The bundled network for ``eyes``; otherwise an ONNX file or a folder with a transformers vision model.

    Nothing is loaded before the first picture, and nothing is ever fetched.

    Raises:
        BadInput: the spec names none of these.
    """
    if spec == BUNDLED_NAME:
        return Eyes()
    path = Path(spec).expanduser()
    if path.is_dir():
        return TowerEncoder(path)
    if path.suffix.lower() == ".onnx":
        return OnnxEncoder(path)
    raise BadInput(
        f"{spec[:200]!r} is no encoder; give {BUNDLED_NAME!r}, an .onnx file or a folder with a transformers model"
    )
