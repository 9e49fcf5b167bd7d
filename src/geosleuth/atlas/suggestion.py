"""The command that brings the map of a country, for whoever lacks it; with its size where that was asked before."""

import json
import shlex
from collections.abc import Iterable
from pathlib import Path

from geosleuth.atlas.folders import cache_dir
from geosleuth.errors import BadInput
from geosleuth.files import write_text_atomically
from geosleuth.names import country_name
from geosleuth.text.numbers import size


def get_command(country: str | None) -> str:
    """The command for a country by its code; for any place without one."""
    if country is None:
        return "geosleuth atlas get PLACE"
    command = f"geosleuth atlas get {shlex.quote(country_name(country).lower())}"
    known = _sizes().get(country)
    return f"{command} ({size(known)})" if known else command


def remember_size(countries: Iterable[str], size_bytes: int) -> None:
    """Keep how large the extract of some countries is; a cache that can't be written to is no reason to fail."""
    try:
        _path().parent.mkdir(parents=True, exist_ok=True)
        write_text_atomically(_path(), json.dumps(_sizes() | dict.fromkeys(countries, size_bytes)))
    except (OSError, BadInput):
        return


def _path() -> Path:
    return cache_dir() / "extract-sizes.json"


def _sizes() -> dict[str, int]:
    try:
        known = json.loads(_path().read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {key: value for key, value in known.items() if isinstance(value, int)} if isinstance(known, dict) else {}
