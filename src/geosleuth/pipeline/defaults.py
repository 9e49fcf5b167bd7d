"""The default model: one file, written by ``geosleuth setup`` and read wherever no model is named.

    model = "ollama:qwen3.5:4b"
    base_url = "http://127.0.0.1:11434/v1"

It is ``config.toml`` in ``GEOSLEUTH_HOME``, or else in the user's configuration folder.
"""

import json
import os
from dataclasses import dataclass, replace
from pathlib import Path

from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_toml, write_text_atomically

from .model_choice import DETECTIVE
from .request import LocateRequest

# Model name for using no model: the rule-based detective.
NO_MODEL = "none"

_ON_DISK = ("hf", "replay", "blind", "nearest", "geoclip")


@dataclass(frozen=True, slots=True)
class Defaults:
    """Contents of the defaults file; a model of None is the detective."""

    model: str | None = None
    base_url: str | None = None

    @property
    def on_disk(self) -> bool:
        """Return whether the model needs no network, not even this machine's own."""
        return self.model is None or self.model.partition(":")[0] in _ON_DISK


def config_file() -> Path:
    """Return where the file is, or would be."""
    if home := os.environ.get("GEOSLEUTH_HOME"):
        return Path(home) / "config.toml"
    root = os.environ.get("XDG_CONFIG_HOME")
    return (Path(root) if root else Path.home() / ".config") / "geosleuth" / "config.toml"


def read_defaults() -> Defaults:
    """Return what was set up; nothing where there is no file.

    Raises:
        BadInput: the user must fix the file.
    """
    path = config_file()
    advice = "correct it, or write it anew with: geosleuth setup"
    try:
        stored = read_toml(path)
    except (FileNotFoundError, NotADirectoryError):
        return Defaults()
    except OSError as error:
        raise BadInput(f"{path}: can't be read: {error.strerror or error}; {advice}") from error
    except BadInput as error:
        raise BadInput(f"{error}; {advice}") from error
    if unknown := sorted(stored.keys() - {"model", "base_url"}):
        raise BadInput(f"{path}: unknown setting {unknown[0][:40]!r}; there are model and base_url; {advice}")
    if not all(isinstance(item, str) for item in stored.values()):
        raise BadInput(f"{path}: model and base_url are text in quotes; {advice}")
    model = stored.get("model", "").strip()
    if model in ("", NO_MODEL, DETECTIVE):
        return Defaults()
    return Defaults(model, stored.get("base_url", "").strip() or None)


def write_defaults(defaults: Defaults) -> Path:
    """Write the file, and return where it is.

    Raises:
        BadInput: it can't be written.
    """
    path = config_file()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"{path}: can't be written: {error.strerror or error}") from error
    lines = ["# Written by geosleuth setup. The model that is asked where none is named; none is the detective."]
    lines.append(f"model = {json.dumps(defaults.model or NO_MODEL)}")
    lines += [f"base_url = {json.dumps(defaults.base_url)}"] if defaults.base_url else []
    write_text_atomically(path, "\n".join(lines) + "\n")
    return path


def with_default_model(request: LocateRequest) -> LocateRequest:
    """Return a request with the default model where it names none; ``none`` is the detective.

    With ``--offline``, a model that is asked over the network is no default.

    Raises:
        BadInput: the user must fix the file with the default.
    """
    if request.model == NO_MODEL:
        return replace(request, model=None)
    asked_otherwise = request.team or request.base_url or request.method == DETECTIVE
    if request.model is not None or asked_otherwise:
        return request
    found = read_defaults()
    if found.model is None or (request.offline and not found.on_disk):
        return request
    return replace(request, model=found.model, base_url=found.base_url)
