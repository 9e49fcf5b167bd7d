"""Image encoders: networks that turn a picture into a row of numbers, alike for pictures that look alike.

One comes with the package and needs nothing but onnxruntime; others are read from disk. Nothing is loaded before the
first picture is looked at.
"""

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from geosleuth.support.errors import BadInput, DataFault, GeosleuthError, require

from .runtime import import_onnxruntime, session_options

if TYPE_CHECKING:
    from PIL.Image import Image

Features: TypeAlias = npt.NDArray[np.float32]

# Images encoded together: larger batches are no faster on a CPU and take more memory.
BATCH = 8

Colour = tuple[float, float, float]
IMAGENET_MEAN: Colour = (123.675, 116.28, 103.53)
IMAGENET_DEVIATION: Colour = (58.395, 57.12, 57.375)
BICUBIC = 3
_LARGEST_SIDE_PX = 4096
BUNDLED = Path(__file__).parent / "data" / "image_encoder.onnx"
_USUAL_SIDE_PX = 224
_KNOWN_OUTPUTS = ("features", "image_embeds", "image_features", "embeddings", "embedding", "pooler_output")
BUNDLED_NAME = "bundled"
JOINED_NAME = "dinov2"


class ImageEncoder(Protocol):
    """Turns pictures into features. May be used from several threads at once."""

    @property
    def name(self) -> str:
        """Return the encoder's name; encoders of the same name give the same features."""
        ...

    @property
    def dimension(self) -> int:
        """Return the number of features of a picture."""
        ...

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1, so that the product of two rows is their cosine."""
        ...


def unit_rows(rows: npt.NDArray[np.floating]) -> Features:
    """Each row brought to length 1; a row of zeros stays one."""
    wide = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: Features = wide / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit


def pool_output(output: npt.NDArray[np.floating], *, channels_first: bool = True) -> npt.NDArray[np.floating]:
    """A network's output as one row a picture: the first of several tokens, the mean over a map."""
    row: npt.NDArray[np.floating] = output
    if output.ndim == 3:
        row = output[:, 0]
    elif output.ndim == 4:
        row = output.mean(axis=(2, 3) if channels_first else (1, 2))
    return row


def compute_fingerprint(*paths: Path) -> str:
    """A short fingerprint of some files' content."""
    hashing = hashlib.sha256()
    for path in paths:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                hashing.update(block)
    return hashing.hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Preparation:
    """Input size of a network and the scaling of colours: (value - mean) / deviation, of 0 to 255.

    The whole picture is squeezed into the size, unless ``shorter_side_px`` is given: then the shorter side is scaled to
    that and the middle is cut out.
    """

    width_px: int
    height_px: int
    mean: Colour = IMAGENET_MEAN
    deviation: Colour = IMAGENET_DEVIATION
    shorter_side_px: int | None = None
    resampling: int = BICUBIC

    def __post_init__(self) -> None:
        sides = (self.width_px, self.height_px, self.shorter_side_px or 1)
        if not all(1 <= side <= _LARGEST_SIDE_PX for side in sides) or not all(self.deviation):
            raise ValueError("sides must be 1 to 4096 pixels, and no deviation may be 0")

    def rows(self, images: "Sequence[Image]") -> Features:
        """The pictures as an array of picture, row, column, colour."""
        pixels: Features = np.stack([self._prepare_picture(image) for image in images])
        pixels -= np.asarray(self.mean, dtype=np.float32)
        pixels /= np.asarray(self.deviation, dtype=np.float32)
        return pixels

    def _prepare_picture(self, image: "Image") -> Features:
        from PIL.Image import Resampling

        rgb = image if image.mode == "RGB" else image.convert("RGB")
        size = self.width_px, self.height_px
        smaller = rgb.resize(size, Resampling(self.resampling), box=self._compute_crop_box(*rgb.size), reducing_gap=3.0)
        return np.asarray(smaller, dtype=np.float32)

    def _compute_crop_box(self, width: int, height: int) -> tuple[float, float, float, float]:
        if self.shorter_side_px is None:
            return 0.0, 0.0, float(width), float(height)
        grow = min(width, height) / self.shorter_side_px
        across, down = min(width, self.width_px * grow), min(height, self.height_px * grow)
        left, top = (width - across) / 2, (height - down) / 2
        return left, top, left + across, top + down


def read_preparation(settings: Mapping[str, Any], side_px: int) -> Preparation:
    """Return the preparation in a transformers image processor's settings; ``side_px`` is the default size.

    Raises:
        ValueError: the settings make no sense.
        TypeError: they are of the wrong types.
    """
    size, cut = settings.get("size", side_px), settings.get("crop_size", side_px)
    shorter = size if isinstance(size, int) else size.get("shortest_edge")
    target = cut if settings.get("do_center_crop") else size
    width, height = _sides(target, side_px)
    scale = 1 / float(settings.get("rescale_factor", 1 / 255))
    scaled = settings.get("do_normalize", True)
    mean, deviation = settings.get("image_mean"), settings.get("image_std")
    return Preparation(
        width_px=width,
        height_px=height,
        mean=_colour(mean, scale, IMAGENET_MEAN) if scaled else (0.0, 0.0, 0.0),
        deviation=_colour(deviation, scale, IMAGENET_DEVIATION) if scaled else (scale, scale, scale),
        shorter_side_px=shorter if settings.get("do_center_crop") else None,
        resampling=int(settings.get("resample", BICUBIC)),
    )


def _sides(size: Any, side_px: int) -> tuple[int, int]:
    if isinstance(size, int):
        return size, size
    square = size.get("shortest_edge") or side_px
    return int(size.get("width") or square), int(size.get("height") or square)


def _colour(values: Any, scale: float, otherwise: Colour) -> Colour:
    if values is None:
        return otherwise
    red, green, blue = (float(value) * scale for value in values)
    return red, green, blue


class NetworkEncoder:
    """A network in a file or a folder; a subclass says how it is loaded and how it looks at prepared pictures."""

    _batch = BATCH
    _channels_first = True

    def __init__(self, path: Path) -> None:
        """Remember where it is; it is loaded before the first picture."""
        self._path = path
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The file's name with a fingerprint of its content."""
        return f"{self._path.stem}@{compute_fingerprint(self._path)}"

    @cached_property
    def dimension(self) -> int:
        """Return the number of features of a picture; encodes a picture to find out."""
        from PIL import Image

        return int(self.features([Image.new("RGB", (64, 64), (127, 127, 127))]).shape[1])

    def features(self, images: "Sequence[Image]") -> Features:
        """One row a picture, each of length 1.

        Raises:
            BadInput: there is no network that takes pictures and gives features.
            MissingExtra: what loads it is not installed.
        """
        return unit_rows(self.embeddings(images)) if images else np.empty((0, self.dimension), dtype=np.float32)

    def embeddings(self, images: "Sequence[Image]") -> Features:
        """One row a picture, of the length that the network gives it; at least one picture is needed."""
        with self._lock:
            network, preparation = self._loaded
        rows = []
        for start in range(0, len(images), self._batch):
            pixels = preparation.rows(images[start : start + self._batch])
            if self._channels_first:
                pixels = np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))
            try:
                rows.append(pool_output(self._look(network, pixels), channels_first=self._channels_first))
            except Exception as error:
                raise self._trouble("its network can't look at a picture", error) from error
        together = np.concatenate(rows)
        if together.ndim != 2 or len(together) != len(images) or not np.isfinite(together).all():
            raise self._trouble("its output is no row of numbers for each picture")
        return together.astype(np.float32)

    @property
    def _loaded(self) -> tuple[Any, Preparation]:
        raise NotImplementedError

    def _look(self, network: Any, pixels: Features) -> npt.NDArray[np.floating]:
        raise NotImplementedError

    def _trouble(self, what: str, error: Exception | None = None) -> GeosleuthError:
        reason = f": {' '.join(str(error).split())[:200]}" if error else ""
        return BadInput(f"{self._path}: {what}{reason}")


def folder_name(folder: Path) -> str:
    """A folder's name with a fingerprint of the weights and settings in it."""
    kinds = ("*.json", "*.safetensors", "*.bin")
    files = sorted(path for kind in kinds for path in folder.glob(kind) if path.is_file())
    return f"{folder.resolve().name}@{compute_fingerprint(*files)}"


class TorchEncoder(NetworkEncoder):
    """A network that torch runs, in a folder with its settings and weights."""

    @cached_property
    def name(self) -> str:
        """The folder's name with a fingerprint of its weights and settings."""
        return folder_name(self._path)

    def _look(self, network: Any, pixels: Features) -> npt.NDArray[np.floating]:
        torch = require("torch", extra="weights")
        with torch.inference_mode():
            seen: npt.NDArray[np.floating] = self._run(network, torch.from_numpy(pixels)).float().numpy()
        return seen

    def _run(self, network: Any, pixels: Any) -> Any:
        return network(pixels)


class OnnxEncoder(NetworkEncoder):
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
        super().__init__(path)

    @cached_property
    def name(self) -> str:
        """The file's name with a fingerprint of its content."""
        return f"{self._path.stem}@{compute_fingerprint(self._path)}"

    def _look(self, network: Any, pixels: Features) -> npt.NDArray[np.floating]:
        return np.asarray(network.run([self._output], {network.get_inputs()[0].name: pixels})[0])

    @cached_property
    def _loaded(self) -> tuple[Any, Preparation]:
        onnxruntime = import_onnxruntime()
        try:
            session = onnxruntime.InferenceSession(
                str(self._path), session_options(), providers=["CPUExecutionProvider"]
            )
            told = session.get_modelmeta().custom_metadata_map
        except Exception as error:
            raise self._trouble("it can't be loaded as an ONNX network", error) from error
        pictures = [item for item in session.get_inputs() if len(item.shape) == 4 and item.type == "tensor(float)"]
        if len(session.get_inputs()) != 1 or not pictures:
            raise self._trouble("it does not take pictures alone: one input of four dimensions in float32 is needed")
        shape = pictures[0].shape
        self._channels_first = shape[3] != 3
        height, width = shape[2:] if self._channels_first else shape[1:3]
        try:
            preparation = Preparation(
                width_px=width if isinstance(width, int) else _USUAL_SIDE_PX,
                height_px=height if isinstance(height, int) else _USUAL_SIDE_PX,
                mean=_parse_colour(told, "mean", IMAGENET_MEAN),
                deviation=_parse_colour(told, "deviation", IMAGENET_DEVIATION),
            )
        except ValueError as error:
            raise self._trouble("its sizes or its metadata make no sense", error) from error
        self._output = _output([output.name for output in session.get_outputs()], told)
        return session, preparation


class BundledEncoder(OnnxEncoder):
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

    def _trouble(self, what: str, error: Exception | None = None) -> GeosleuthError:
        return DataFault(f"{super()._trouble(what, error)}; the package is damaged: install geosleuth again")


def _output(names: list[str], told: Mapping[str, str]) -> str:
    wanted = (told.get("geosleuth.features"), *_KNOWN_OUTPUTS)
    return next((name for name in wanted if name in names and name is not None), names[0])


def _parse_colour(told: Mapping[str, str], key: str, otherwise: Colour) -> Colour:
    text = told.get(f"geosleuth.{key}")
    if text is None:
        return otherwise
    values = [float(part) for part in text.split(",")]
    red, green, blue = values * 3 if len(values) == 1 else values
    return red, green, blue


class TowerEncoder(TorchEncoder):
    """A vision model in a folder with ``config.json`` and its weights; code in the folder is never run.

    Pictures are prepared here as the folder's image processor describes, so torchvision is not needed. Of a model for
    pictures and text, the picture's embedding is taken.
    """

    def __init__(self, folder: Path) -> None:
        """Remember the folder.

        Raises:
            BadInput: it holds no model.
        """
        if not (folder / "config.json").is_file():
            raise BadInput(f"{folder}: no config.json is in it; give a folder with a transformers model")
        super().__init__(folder)

    def _run(self, network: Any, pixels: Any) -> Any:
        return _look(network, pixels)

    @cached_property
    def _loaded(self) -> tuple[Any, Preparation]:
        transformers = require("transformers", extra="weights")
        require("torch", extra="weights")
        try:
            settings = _processor_settings(self._path)
            model = transformers.AutoModel.from_pretrained(
                str(self._path), local_files_only=True, trust_remote_code=False
            )
            preparation = read_preparation(settings, _side_px(model.config))
        except (OSError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            raise self._trouble("it can't be loaded as a vision model", error) from error
        return model.eval(), preparation


def _look(model: Any, pixels: Any) -> Any:
    if hasattr(model, "get_image_features"):
        found = model.get_image_features(pixel_values=pixels)
    else:
        found = model(pixel_values=pixels)
    if hasattr(found, "ndim"):
        return found
    pooler = getattr(found, "pooler_output", None)
    return found.last_hidden_state if pooler is None else pooler


def _processor_settings(folder: Path) -> Mapping[str, Any]:
    for name in ("preprocessor_config.json", "processor_config.json"):
        if (folder / name).is_file():
            found = json.loads((folder / name).read_text(encoding="utf-8"))
            inner = found.get("image_processor", found) if isinstance(found, dict) else {}
            if isinstance(inner, dict) and "image_mean" in inner:
                return inner
    return {}


def _side_px(config: Any) -> int:
    side = getattr(getattr(config, "vision_config", config), "image_size", None)
    return side if isinstance(side, int) else _USUAL_SIDE_PX


def is_named(spec: str) -> bool:
    """Return whether a spec names an encoder, and no file or folder."""
    return spec in (BUNDLED_NAME, JOINED_NAME)


def lasting_spec(spec: str) -> str:
    """Return a spec that finds the same encoder from any folder."""
    if is_named(spec):
        return spec
    return str(Path(spec).expanduser().resolve())


def best_spec() -> str:
    """Return the name of the best encoder for looks of places that is installed."""
    from .dinov2_encoder import find_weights

    return BUNDLED_NAME if find_weights() is None else JOINED_NAME


def load_encoder(spec: str = BUNDLED_NAME) -> ImageEncoder:
    """Return the bundled network for ``bundled``, and with a DINOv2 beside it for ``dinov2``.

    Any other spec is an ONNX file or a folder with a transformers vision model. Nothing is loaded before the first
    picture, and nothing is ever fetched.

    Raises:
        BadInput: the spec names none of these.
        MissingExtra: ``dinov2`` is asked for and its package is not installed.
    """
    if spec == JOINED_NAME:
        from .dinov2_encoder import load_joined

        return load_joined()
    if is_named(spec):
        return BundledEncoder()
    path = Path(spec).expanduser()
    if path.is_dir():
        return TowerEncoder(path)
    if path.suffix.lower() == ".onnx":
        return OnnxEncoder(path)
    raise BadInput(
        f"{spec[:200]!r} is no encoder; give {BUNDLED_NAME!r}, {JOINED_NAME!r}, an .onnx file or a folder with a "
        "transformers model"
    )
