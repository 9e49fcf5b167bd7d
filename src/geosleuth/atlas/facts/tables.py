"""Read the tables that ship with this room, once, at first use."""

import gzip
import json
import zlib
from importlib.resources import files
from typing import Any

from geosleuth.errors import DataFault


def read_bytes(name: str) -> bytes:
    """A shipped file as it lies there.

    Raises:
        DataFault: it is missing.
    """
    source = files("geosleuth.atlas.facts") / "data" / name
    try:
        return source.read_bytes()
    except OSError as error:
        raise DataFault(f"a table of the atlas can't be read: {source}") from error


def read_json(name: str) -> Any:
    """A shipped file of compressed JSON.

    Raises:
        DataFault: it is missing or damaged.
    """
    try:
        return json.loads(gzip.decompress(read_bytes(name)))
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataFault(f"a table of the atlas is damaged: {name}") from error
