"""In what a model gives boxes, as its configuration or its name says; where neither does, `box_probe` finds it out."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args

from geosleuth.photo import BoxScale

KEY = "box_scale"
"""The entry of a folder's config.json that says otherwise than the family; training writes it where it was set."""
_FAMILIES: Mapping[str, BoxScale] = {
    "qwen3_vl": "thousandths",
    "qwen3_vl_moe": "thousandths",
    "qwen2_5_vl": "pixels",
    "qwen2_vl": "thousandths",
}
_NAMED = re.compile(r"qwen3[-_.]?vl", re.IGNORECASE)


def box_scale_of(configuration: Mapping[str, Any]) -> BoxScale:
    """Return what a model's configuration says: its own entry, or that of its family; pixels for all others."""
    return _known(configuration) or "pixels"


def box_scale_for(model: str | None) -> BoxScale:
    """Return the scale of a model by its name, as ``--model`` gives it: by its folder, or by the family in its name."""
    prefix, _, name = (model or "").partition(":")
    if prefix == "hf":
        return box_scale_of(_configuration(Path(name)))
    return "thousandths" if _NAMED.search(name) else "pixels"


def knows_box_scale(folder: Path) -> bool:
    """Return whether a folder of weights says in what its model gives boxes, by an entry or by a family known here."""
    return _known(_configuration(folder)) is not None


def _known(configuration: Mapping[str, Any]) -> BoxScale | None:
    scales: tuple[BoxScale, ...] = get_args(BoxScale)
    own = next((scale for scale in scales if configuration.get(KEY) == scale), None)
    return own or _FAMILIES.get(str(configuration.get("model_type")))


def _configuration(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}  # loading the model reports what is wrong
    return found if isinstance(found, dict) else {}
