"""A folder with a model in it: what can be known of it, and of its faults, before anything heavy is loaded."""

import json
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput, MissingExtra

_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")
_MAX_HEADER_BYTES = 100_000_000


def check_installed() -> None:
    """Make sure that local models can run here.

    Raises:
        MissingExtra: the libraries are not installed.
    """
    for module in ("torch", "transformers"):
        if find_spec(module) is None:
            raise MissingExtra(module, "weights")


def check_folder(folder: Path) -> dict[str, Any]:
    """Look through a folder as models are published: config.json and safetensors. Returns the configuration.

    Raises:
        BadInput: the folder is not there, holds no such model, only weights in a format that can run code when it is
            opened, or weights that are cut short or damaged.
    """
    if not folder.exists():
        raise BadInput(f"there is no folder {folder}; give the folder of a model, with its config.json")
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder; give the folder of a model, with its config.json")
    config = _config(folder)
    files = _weight_files(folder)
    for file in files:
        check_safetensors(file)
    return config


def _config(folder: Path) -> dict[str, Any]:
    path = folder / "config.json"
    try:
        config = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadInput(f"{folder} holds no config.json, so it is not the folder of a model") from None
    except PermissionError:
        raise BadInput(f"{path} may not be read; change its permissions") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} is not valid JSON; get the model again") from error
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise BadInput(f"{path} names no model_type; get the model again")
    return config


def _weight_files(folder: Path) -> list[Path]:
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        try:
            names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise BadInput(f"{index} can't be read; get the model again") from error
        missing = [name for name in names if Path(name).name != name or not (folder / name).is_file()]
        if missing:
            raise BadInput(f"{folder} lacks {len(missing)} of {len(names)} weight files, such as {missing[0]}")
        return [folder / name for name in names]
    files = sorted(folder.glob("*.safetensors"))
    if files:
        return files
    if any(next(folder.glob(pattern), None) for pattern in _PICKLES):
        raise BadInput(
            f"{folder} holds its weights as pickle files, which can run code when opened; "
            "get the model as safetensors or convert it"
        )
    raise BadInput(f"{folder} holds no weights (*.safetensors)")


def check_safetensors(file: Path) -> None:
    """Whether a file of weights is there in full: it starts with a header that says where each tensor ends.

    Raises:
        BadInput: it is damaged or may not be read.
    """
    damaged = BadInput(f"{file} is damaged or was not fetched in full; get it again")
    try:
        with file.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            length = int.from_bytes(stream.read(8), "little")
            if not 2 <= length <= min(_MAX_HEADER_BYTES, size - 8):
                raise damaged
            header = json.loads(stream.read(length))
        end = max((entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"), default=0)
    except PermissionError:
        raise BadInput(f"{file} may not be read; change its permissions") from None
    except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise damaged from error
    if 8 + length + end != size:
        raise damaged
