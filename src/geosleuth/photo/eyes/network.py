"""Networks in ONNX files: the bundled one, and any other that takes a picture and gives a row of numbers."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from geosleuth.errors import BadInput, DataFault, GeosleuthError
from geosleuth.photo.runtime import import_onnxruntime, usable_threads

from .encoder import BATCH, Features, digest_of, pooled, unit_rows
from .preparing import IMAGENET_DEVIATION, IMAGENET_MEAN, Colour, Preparation

if TYPE_CHECKING:
    from PIL.Image import Image

BUNDLED = Path(__file__).parent / "data" / "eyes.onnx"
_USUAL_SIDE_PX = 224
_KNOWN_OUTPUTS = ("features", "image_embeds", "image_features", "embeddings", "embedding", "pooler_output")


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: Any
    input: str
    output: str
    preparation: Preparation
    channels_first: bool


class OnnxEncoder:
    """A network in an ONNX file that takes one batch of pictures.

    Size and order come from its input. Colours are scaled as usual for ImageNet unless the file's metadata say
    otherwise (``geosleuth.mean`` and ``geosleuth.deviation``: one number or three with commas, of 0 to 255). Its
    features are the output that ``geosleuth.features`` names, or one with a usual name, or the first.
    """

    def __init__(self, path: Path) -> None:
        """Remember the file.

        Raises:
            BadInput: there is none.
        """
        if not path.is_file():
            raise BadInput(f"{path}: there is no such ONNX file; check the path")
        self._path = path
        self._lock = threading.Lock()

    @cached_property
    def name(self) -> str:
        """The file's name with a fingerprint of its content."""
        return f"{self._path.stem}@{digest_of(self._path)}"

    @cached_property
    def dimension(self) -> int:
        """How many features a picture has; one is looked at to find out."""
        from PIL import Image

        return int(self.features([Image.new("RGB", (64, 64), (127, 127, 127))]).shape[1])

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1.

        Raises:
            BadInput: the file holds no network that takes pictures and gives features.
        """
        if not images:
            return np.empty((0, self.dimension), dtype=np.float32)
        return unit_rows(self._run(images, self._loaded.output))

    def _run(self, images: "Sequence[Image]", output: str) -> Features:
        loaded = self._loaded
        rows = []
        for start in range(0, len(images), BATCH):
            given = loaded.preparation.rows(images[start : start + BATCH])
            if loaded.channels_first:
                given = np.ascontiguousarray(given.transpose(0, 3, 1, 2))
            try:
                (found,) = loaded.session.run([output], {loaded.input: given})
            except Exception as error:
                raise self._trouble("its network can't look at a picture", error) from error
            rows.append(pooled(np.asarray(found), channels_first=loaded.channels_first))
        together = np.concatenate(rows)
        if together.ndim != 2 or len(together) != len(images) or not np.isfinite(together).all():
            raise self._trouble(f"its output {output!r} is no row of numbers for each picture")
        return together.astype(np.float32)

    @property
    def _loaded(self) -> _Loaded:
        with self._lock:
            return self._once

    @cached_property
    def _once(self) -> _Loaded:
        onnxruntime = import_onnxruntime()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = usable_threads()
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Threads that wait in a loop for the next picture take the processor from whoever opens it.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        try:
            session = onnxruntime.InferenceSession(
                str(self._path), sess_options=options, providers=["CPUExecutionProvider"]
            )
            told = session.get_modelmeta().custom_metadata_map
        except Exception as error:
            raise self._trouble("it can't be loaded as an ONNX network", error) from error
        pictures = [one for one in session.get_inputs() if len(one.shape) == 4 and one.type == "tensor(float)"]
        if len(session.get_inputs()) != 1 or not pictures:
            raise self._trouble("it does not take pictures alone: one input of four dimensions in float32 is needed")
        shape = pictures[0].shape
        channels_first = shape[3] != 3
        height, width = shape[2:] if channels_first else shape[1:3]
        try:
            preparation = Preparation(
                width_px=width if isinstance(width, int) else _USUAL_SIDE_PX,
                height_px=height if isinstance(height, int) else _USUAL_SIDE_PX,
                mean=_told_colour(told, "mean", IMAGENET_MEAN),
                deviation=_told_colour(told, "deviation", IMAGENET_DEVIATION),
            )
        except ValueError as error:
            raise self._trouble("its sizes or its metadata make no sense", error) from error
        output = _output([one.name for one in session.get_outputs()], told)
        return _Loaded(session, pictures[0].name, output, preparation, channels_first)

    def _trouble(self, what: str, error: Exception | None = None) -> GeosleuthError:
        reason = f": {' '.join(str(error).split())[:200]}" if error else ""
        return BadInput(f"{self._path}: {what}{reason}")


class Eyes(OnnxEncoder):
    """The network that comes with the package: EfficientNet-Lite2, trained on ImageNet's thousand kinds of things.

    It knows what things look like and nothing about places: good at finding other pictures of the same scene, weak at
    telling apart streets that look alike.
    """

    name = "efficientnet-lite2"
    dimension = 1280

    def __init__(self) -> None:
        """Find the network's file.

        Raises:
            DataFault: it is missing from the package.
        """
        if not BUNDLED.is_file():
            raise DataFault(f"{BUNDLED.name} is missing from the package: install geosleuth again")
        super().__init__(BUNDLED)

    def logits(self, images: "Sequence[Image]") -> Features:
        """How much each picture looks like each of ImageNet's 1000 classes, before softmax."""
        return self._run(images, "logits") if images else np.empty((0, 1000), dtype=np.float32)

    def _trouble(self, what: str, error: Exception | None = None) -> GeosleuthError:
        return DataFault(f"{super()._trouble(what, error)}; the package is damaged: install geosleuth again")


def _output(names: list[str], told: Mapping[str, str]) -> str:
    wanted = (told.get("geosleuth.features"), *_KNOWN_OUTPUTS)
    return next((name for name in wanted if name in names and name is not None), names[0])


def _told_colour(told: Mapping[str, str], key: str, otherwise: Colour) -> Colour:
    text = told.get(f"geosleuth.{key}")
    if text is None:
        return otherwise
    values = [float(part) for part in text.split(",")]
    red, green, blue = values * 3 if len(values) == 1 else values
    return red, green, blue
