"""What tests of tools need: a case, signs to read, and a way to call a tool as a model does."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont

from geosleuth.atlas import Atlas, OfflineAtlas
from geosleuth.photo import Album, Photo
from geosleuth.tools import Case, Observation, Tool, ToolCall, Toolset

ROOT = Path(__file__).resolve().parents[2]
MONACO = ROOT / "examples" / "regions" / "monaco.osm.pbf"
_FONT = ROOT / "src" / "geosleuth" / "atlas" / "maps" / "fonts" / "sans-semibold.woff2"


def case_of(*images: Image.Image, atlas: Atlas | None = None) -> Case:
    """A case with these pictures, the first of them image-1, and the offline atlas."""
    album = Album()
    for image in images:
        album.add(Photo(image))
    return Case(album, atlas or OfflineAtlas())


def call(tool: Tool, case: Case, arguments: Mapping[str, Any] | str = {}, *, name: str = "") -> Observation:
    """The outcome of one call, made as a model makes it."""
    calls = [ToolCall("call-1", name or tool.name, arguments)]
    seen = asyncio.run(Toolset([tool]).run(calls, case))[0]
    # Whatever happens, an observation can be stored and sent.
    json.dumps([seen.text, seen.data, seen.sources], allow_nan=False, ensure_ascii=False).encode()
    return seen


def sign(
    *lines: str, size: tuple[int, int] = (900, 500), at: tuple[int, int] = (60, 60), letter: int = 60
) -> Image.Image:
    """A white board with dark writing."""
    board = Image.new("RGB", size, "#f4f1e8")
    font = ImageFont.truetype(str(_FONT), letter)
    for number, line in enumerate(lines):
        ImageDraw.Draw(board).text((at[0], at[1] + 2 * number * letter), line, fill="#20242c", font=font)
    return board
