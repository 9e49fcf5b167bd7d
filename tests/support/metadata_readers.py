"""Other people's readers of photo metadata, to hold ours against.

Pillow and exifread read every copy that a test writes. exiftool reads them too where it is installed (on the PATH, or
named by GEOSLEUTH_EXIFTOOL): nothing is skipped where it is not.
"""

import io
import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import exifread
from PIL import ExifTags, Image


@dataclass(frozen=True, slots=True)
class Placed:
    """What a reader says of a photo's place."""

    reader: str
    lat: float
    lon: float
    error_m: float | None
    method: str
    datum: str


def exiftool(path: Path) -> dict[str, Any] | None:
    """Everything exiftool finds, in numbers; None where there is no exiftool."""
    program = os.environ.get("GEOSLEUTH_EXIFTOOL") or shutil.which("exiftool")
    if program is None:
        return None
    done = subprocess.run([program, "-j", "-n", "-G1", str(path)], capture_output=True, check=True)
    (found,) = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def places(path: Path) -> Iterator[Placed]:
    """The place as each reader reads it from the EXIF data."""
    yield _pillow(path)
    yield _exifread(path)
    found = exiftool(path)
    if found is not None:
        assert "ExifTool:Warning" not in found, found["ExifTool:Warning"]
        yield Placed(
            "exiftool",
            found["Composite:GPSLatitude"],
            found["Composite:GPSLongitude"],
            found.get("GPS:GPSHPositioningError"),
            found["GPS:GPSProcessingMethod"],
            found["GPS:GPSMapDatum"],
        )


def _pillow(path: Path) -> Placed:
    with Image.open(path) as image:
        gps = image.getexif().get_ifd(ExifTags.IFD.GPSInfo)
    error = gps.get(31)
    return Placed(
        "pillow",
        _degrees(gps[2], gps[1]),
        _degrees(gps[4], gps[3]),
        None if error is None else float(error),
        bytes(gps[27]).removeprefix(b"ASCII\0\0\0").decode(),
        str(gps[18]),
    )


def _exifread(path: Path) -> Placed:
    tags = exifread.process_file(io.BytesIO(path.read_bytes()), details=False)
    error = tags.get("GPS Tag 0x001F") or tags.get("GPS GPSHPositioningError")
    values = {name: tags[f"GPS GPS{name}"].values for name in ("Latitude", "LatitudeRef", "Longitude", "LongitudeRef")}
    return Placed(
        "exifread",
        _degrees(values["Latitude"], values["LatitudeRef"]),
        _degrees(values["Longitude"], values["LongitudeRef"]),
        None if error is None else float(error.values[0]),
        bytes(tags["GPS GPSProcessingMethod"].values).removeprefix(b"ASCII\0\0\0").decode(),
        str(tags["GPS GPSMapDatum"].values),
    )


def _degrees(parts: Any, ref: str) -> float:
    degrees, minutes, seconds = (float(part) for part in parts)
    return (degrees + minutes / 60 + seconds / 3600) * (-1 if ref in "SW" else 1)
