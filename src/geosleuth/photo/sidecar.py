"""Claims of an XMP sidecar beside a photo: a place in numbers or in names. Anyone could have written it there.

``photo.jpg.xmp`` and ``photo.xmp`` both belong to ``photo.jpg``. The XML is read without a document type, so nothing in
it can define or fetch anything; size, depth and texts have limits. A broken sidecar never raises: it says so.
"""

import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat

from geosleuth.geo import LatLon

from .exif import is_estimate, xmp_point

MAX_BYTES = 4 * 1024 * 1024
_MAX_DEPTH = 64
_MAX_TEXT = 120
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns# "
_EXIF = "http://ns.adobe.com/exif/1.0/ "
_PHOTOSHOP = "http://ns.adobe.com/photoshop/1.0/ "
_IPTC = "http://iptc.org/std/Iptc4xmpCore/1.0/xmlns/ "
_FINEST_FIRST = (f"{_IPTC}Location", f"{_PHOTOSHOP}City", f"{_PHOTOSHOP}State", f"{_PHOTOSHOP}Country")
_GPS = {f"{_EXIF}{name}": f"exif:{name}" for name in ("GPSLatitude", "GPSLongitude", "GPSProcessingMethod")}
_META = "adobe:ns:meta/ "
_XMP = "http://ns.adobe.com/xap/1.0/ "
_GEOSLEUTH = "urn:geosleuth:answer:1# "
_PHOTO_SHA256 = f"{_GEOSLEUTH}PhotoSHA256"
# Marks a country as estimated: without coordinates there is no processing method that could say so.
_ESTIMATED = f"{_GEOSLEUTH}Estimated"

_REVIEWED = f"{_GEOSLEUTH}Reviewed"

_TOOLKIT = "geosleuth "
_OURS = (_META, _RDF, _EXIF, _PHOTOSHOP, _IPTC, "http://iptc.org/std/Iptc4xmpExt/2008-02-29/ ", _GEOSLEUTH)
_WANTED = frozenset((*_FINEST_FIRST, f"{_IPTC}CountryCode", *_GPS, _PHOTO_SHA256, _ESTIMATED, _REVIEWED))


@dataclass(frozen=True, slots=True)
class SidecarClaim:
    """Claim of a sidecar; ``place`` holds names, the finest first, ``trouble`` says why it was not read.

    ``estimated`` is set where the sidecar says that its place was estimated, as those that geosleuth writes do.
    """

    point: LatLon | None = None
    place: str | None = None
    estimated: bool = False
    trouble: str | None = None


class _Refused(Exception):
    """This XML is not read."""


def read_sidecars(photo: Path) -> tuple[SidecarClaim, ...]:
    """Return what the sidecars of a photo claim, those that say nothing about a place left out."""
    found = [_claim(path) for path in sidecar_paths(photo)]
    return tuple(item for item in found if item is not None)


def sidecar_paths(photo: Path) -> list[Path]:
    """Return the files beside a photo that can be its sidecars; the one with the photo's whole name comes first."""
    names = dict.fromkeys(f"{stem}{ending}" for stem in (photo.name, photo.stem) for ending in (".xmp", ".XMP"))
    found: dict[tuple[int, int], Path] = {}
    for path in (photo.with_name(name) for name in names):
        with suppress(OSError, ValueError):
            status = path.stat()
            if stat.S_ISREG(status.st_mode):
                # Where capitals do not count, both names are the same file.
                found.setdefault((status.st_dev, status.st_ino), path)
    return list(found.values())


def is_sidecar_of_ours(path: Path, sha256: str, *, reviewed: bool = True) -> bool:
    """Return whether geosleuth wrote a file as the sidecar of this photo, and no other program changed it since.

    Without ``reviewed``, one whose place a person confirmed or corrected counts as theirs.

    Programs put their own name where geosleuth's stands, or add properties that geosleuth never writes.
    """
    if path.is_symlink():
        return False
    try:
        reader = _parse_packet(_content(path))
    except (OSError, _Refused, expat.ExpatError, LookupError, ValueError):
        return False
    return (
        reader.toolkit.startswith(_TOOLKIT)
        and (reviewed or not reader.found.get(_REVIEWED))
        and reader.found.get(_PHOTO_SHA256, "").strip() == sha256
        and all(name.startswith(_OURS) or name == f"{_XMP}MetadataDate" for name in reader.names)
    )


def _content(path: Path) -> bytes:
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
        return stream.read(MAX_BYTES + 1)


def _claim(path: Path) -> SidecarClaim | None:
    try:
        data = _content(path)
    except OSError as error:
        return SidecarClaim(trouble=f"it can't be read: {error.strerror or error}")
    if len(data) > MAX_BYTES:
        return SidecarClaim(trouble=f"it is larger than {MAX_BYTES // 1024**2} MiB and was not read")
    try:
        return read_claim(data)
    except (_Refused, expat.ExpatError, LookupError, ValueError):
        return SidecarClaim(trouble="it is no plain XMP and was not read")


def read_claim(data: bytes) -> SidecarClaim | None:
    """Return what a sidecar's content says about a place; None where it says nothing."""
    values = {name: value.strip() for name, value in _parse_packet(data).found.items()}
    gps = {short: values[name] for name, short in _GPS.items() if name in values}
    point = xmp_point(gps)
    names = [values[name] for name in _FINEST_FIRST if values.get(name)]
    if f"{_PHOTOSHOP}Country" not in values and values.get(f"{_IPTC}CountryCode"):
        names.append(values[f"{_IPTC}CountryCode"])
    if point is None and not names:
        return None
    estimated = is_estimate(gps.get("exif:GPSProcessingMethod", "").encode()) or values.get(_ESTIMATED) == "True"
    return SidecarClaim(point, ", ".join(dict.fromkeys(names)) or None, estimated)


def _parse_packet(data: bytes) -> "_Reader":
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = parser.ExternalEntityRefHandler = _refuse
    parser.StartElementHandler, parser.EndElementHandler = reader.begin, reader.end
    parser.CharacterDataHandler = reader.text
    parser.Parse(data, True)  # noqa: FBT003  (expat's own)
    return reader


def _refuse(*_: Any) -> NoReturn:
    raise _Refused


class _Reader:
    """Collects the wanted properties of the packet's own descriptions; those inside structures are others' places."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}
        self.names: set[str] = set()
        self.toolkit = ""
        self._path: list[str] = []
        self._reading: str | None = None

    def begin(self, name: str, attributes: dict[str, str]) -> None:
        """Enter an element."""
        self.names.add(name)
        if not self._path:
            self.toolkit = attributes.get(f"{_META}xmptk", "")
        self._reading = name if self._is_inside_description() and name in _WANTED - self.found.keys() else None
        self._path.append(name)
        if len(self._path) > _MAX_DEPTH:
            raise _Refused
        if self._is_inside_description():
            self.names.update(attributes)
            for key in _WANTED & attributes.keys():
                self.found.setdefault(key, _clean_claim_text(attributes[key]))

    def text(self, piece: str) -> None:
        """Take a piece of text."""
        if self._reading is not None:
            self.found[self._reading] = _clean_claim_text(self.found.get(self._reading, "") + piece)

    def end(self, _: str) -> None:
        """Leave an element."""
        self._path.pop()
        self._reading = None

    def _is_inside_description(self) -> bool:
        return self._path[-2:] == [f"{_RDF}RDF", f"{_RDF}Description"]


def _clean_claim_text(text: str) -> str:
    """Return text for people: no control characters, no novels."""
    return "".join(letter for letter in text if letter.isprintable())[:_MAX_TEXT]
