"""In what a model gives boxes, as its configuration or its name says; where neither does, `box_probe` finds it out."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from geosleuth.photo import BoxScale

# Entry in a model folder's config.json that overrides its family's scale; training writes it where one was set.
KEY = "box_scale"
_FAMILIES: Mapping[str, BoxScale] = {
    "qwen3_vl": "thousandths",
    "qwen3_vl_moe": "thousandths",
    "qwen2_5_vl": "pixels",
    "qwen2_vl": "thousandths",
}
_NAMED = re.compile(r"qwen3[-_.]?vl", re.IGNORECASE)


def read_box_scale(configuration: Mapping[str, Any]) -> BoxScale:
    """Return what a model's configuration says: its own entry, or that of its family; pixels for all others."""
    return _match_box_scale(configuration) or "pixels"


def find_box_scale(model: str | None) -> BoxScale:
    """Return the scale of a model by its name, as ``--model`` gives it: by its folder, or by the family in its name."""
    prefix, _, name = (model or "").partition(":")
    if prefix == "hf":
        return read_box_scale(_configuration(Path(name)))
    return "thousandths" if _NAMED.search(name) else "pixels"


def knows_box_scale(folder: Path) -> bool:
    """Return whether a folder of weights says in what its model gives boxes, by an entry or by a family known here."""
    return _match_box_scale(_configuration(folder)) is not None


def _match_box_scale(configuration: Mapping[str, Any]) -> BoxScale | None:
    scales: tuple[BoxScale, ...] = get_args(BoxScale)
    own = next((scale for scale in scales if configuration.get(KEY) == scale), None)
    return own or _FAMILIES.get(str(configuration.get("model_type")))


def _configuration(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}  # loading the model reports what is wrong
    return found if isinstance(found, dict) else {}
