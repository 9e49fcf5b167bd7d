"""The command ``geosleuth clues resection``; imported only when it runs."""

import asyncio
import re
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from geosleuth.cli.handlers.atlas import check_png, optional_point, search_area
from geosleuth.cli.preparation import offline_atlas
from geosleuth.photo import Album, OpenedPhoto, Photo, open_photo
from geosleuth.support.console import show, show_json, table_view, talk
from geosleuth.support.errors import BadInput
from geosleuth.support.files import write_bytes_atomically
from geosleuth.support.text.numbers import distance
from geosleuth.tools import Case, Output
from geosleuth.tools.resection import Marked, StandRequest, photo_fov, stand_point

if TYPE_CHECKING:
    from geosleuth.cli.clues import ResectionOptions

_FEATURE = re.compile(r"(?:x=)?\s*(\d*\.?\d+)\s*(px)?\s*[@,]\s*(.+)", re.DOTALL)


def show_resection(options: "ResectionOptions") -> None:
    """Print where the camera stood, and write a map of it if asked to."""
    if options.out is not None:
        check_png(options.out, overwrite=options.overwrite)
    opened = None if options.photo is None else open_photo(options.photo)
    fov, source = photo_fov(options.fov, opened)
    if fov is None and opened is not None:
        talk("the photo names no focal length: the field of view is solved for; --fov gives it")
    request = StandRequest(
        marked=[_parse_feature(text, opened) for text in options.feature],
        fov=fov,
        fov_source=source,
        noise_deg=options.noise,
        within=search_area(options.within).extent,
        check=optional_point(options.check),
    )
    found = asyncio.run(stand_point(Case(Album(), offline_atlas()), request))
    if options.out is not None:
        write_picture(found, options.out, "no map: there is no area to draw")
    if options.as_json:
        show_json(found.data | {"file": None if options.out is None else str(options.out)})
    else:
        _show_card(found)


def _parse_feature(text: str, opened: OpenedPhoto | None) -> Marked:
    """Parse a feature, written as COLUMN@PLACE or x=COLUMN,PLACE."""
    match = _FEATURE.fullmatch(text.strip())
    if match is None:
        raise BadInput(f"--feature {text[:60]!r}: write the column and the feature, such as 0.31@Zugspitze")
    column = float(match[1])
    if match[2]:
        if opened is None:
            raise BadInput(f"--feature {text[:60]!r}: pixels need --photo, for the width of the picture")
        column /= opened.photo.image.width
    if not 0 <= column <= 1:
        raise BadInput(
            f"--feature {text[:60]!r}: the column must lie between 0 (left edge) and 1 (right edge); "
            "pixels are written as 1240px"
        )
    return Marked(match[3].strip(), column)


def write_picture(found: Output, out: Path, nothing: str) -> None:
    """Write the output's map as PNG, or print `nothing` if there is none."""
    if not found.images:
        talk(nothing)
        return
    picture = found.images[0]
    if not isinstance(picture, Photo):
        raise TypeError("a map is a picture of its own")
    buffer = BytesIO()
    picture.image.save(buffer, "PNG")
    write_bytes_atomically(out, buffer.getvalue())
    talk(f"wrote {out}")


def _show_card(found: Output) -> None:
    rows = []
    for row in found.data["features"]:
        numbers = ("–", "–", "–")
        if row["distance_km"] is not None:
            off = f"{round(row['residual_deg'], 1) + 0.0:+.1f}°" + ("" if row["counts"] else " (left out)")
            numbers = distance(row["distance_km"]), f"{row['bearing_deg']:.1f}°", off
        rows.append((row["name"], row["place"], f"{row['column']:.3f}", *numbers))
    table = table_view(("feature", "taken as", "column", "away", "bearing", "off"), rows)
    lines = found.text.splitlines()[1:]
    show(Group(*map(Text, lines[:1]), Text(), table, *map(Text, lines[1:])))
