"""In what a model gives boxes: Qwen3-VL counts to 1000 on either side, Qwen2.5-VL in pixels of the picture it sees."""

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
    scales: tuple[BoxScale, ...] = get_args(BoxScale)
    for scale in scales:
        if configuration.get(KEY) == scale:
            return scale
    return _FAMILIES.get(str(configuration.get("model_type")), "pixels")


def box_scale_for(model: str | None) -> BoxScale:
    """Return the scale of a model by its name, as ``--model`` gives it: by its folder, or by the family in its name."""
    prefix, _, name = (model or "").partition(":")
    if prefix == "hf":
        try:
            found = json.loads((Path(name) / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return "pixels"  # loading the model reports what is wrong
        return box_scale_of(found) if isinstance(found, dict) else "pixels"
    return "thousandths" if _NAMED.search(name) else "pixels"
