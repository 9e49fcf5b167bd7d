"""Build the land outline that the report's world map draws.

    python scripts/build_land.py                                   # fetches world-atlas with `npm pack`
    python scripts/build_land.py --package world-atlas-2.0.2.tgz   # or reads a tarball that is already here

Source: ``land-110m.json`` of the npm package world-atlas 2.0.2, which is Natural Earth's 1:110m land as TopoJSON. Its
rings run across the antimeridian, and Antarctica's runs round the pole without reaching it. A flat map needs rings that
stay within [-180, 180], so each is cut at the antimeridian here, and Antarctica is closed along the pole.

The result is JSON: per ring, longitude and latitude of its first point and then the steps to each next one, all in
tenths of a degree. Same package, same bytes.
"""

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

LAND = Path(__file__).parents[1] / "src/geosleuth/report/land.json"
PACKAGE = "world-atlas@2.0.2"
MEMBER = "package/land-110m.json"

STEP_ALONG_SEAM = 20
"""Tenths of a degree between points where a ring follows the antimeridian, which most projections bend."""

Point = tuple[float, float]
Ring = list[Point]


def main() -> None:
    """Read the package, cut the rings, write the table."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--package", type=Path, help="tarball of world-atlas 2.0.2; fetched with npm where not given")
    tarball: Path | None = options.parse_args().package
    topology = _read(tarball) if tarball else _fetch()
    rings = [
        coded
        for ring in _rings(topology)
        for piece in cut_at_antimeridian(ring)
        if len(coded := _delta_code(_along_seam(_in_tenths(piece)))) > 2 * 3
    ]
    LAND.write_text(json.dumps(rings, separators=(",", ":")) + "\n", encoding="utf-8")
    print(f"{LAND.name}: {len(rings)} rings, {sum(len(ring) // 2 for ring in rings)} points", file=sys.stderr)


def _fetch() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", "--silent", PACKAGE], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return _read(next(Path(folder).glob("*.tgz")))


def _read(tarball: Path) -> dict[str, Any]:
    with tarfile.open(tarball) as archive:
        member = archive.extractfile(MEMBER)
        if member is None:
            raise SystemExit(f"{tarball} holds no {MEMBER}")
        topology: dict[str, Any] = json.load(member)
        return topology


def _rings(topology: dict[str, Any]) -> list[Ring]:
    """All rings in degrees, longitude first; holes too, since the map fills by the even-odd rule."""
    (scale_x, scale_y), (shift_x, shift_y) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs: list[Ring] = []
    for arc in topology["arcs"]:
        x = y = 0
        points: Ring = []
        for step_x, step_y in arc:
            x, y = x + step_x, y + step_y
            points.append((x * scale_x + shift_x, y * scale_y + shift_y))
        arcs.append(points)
    rings: list[Ring] = []
    for geometry in topology["objects"]["land"]["geometries"]:
        for polygon in geometry["arcs"]:
            for indices in polygon:
                ring: Ring = []
                for index in indices:
                    # A negative index is the arc ~index, walked backwards; neighbours share their end points.
                    points = arcs[index] if index >= 0 else arcs[~index][::-1]
                    ring.extend(points if not ring else points[1:])
                rings.append(ring)
    return rings


def cut_at_antimeridian(ring: Ring) -> list[Ring]:
    """Pieces of a closed ring, each within [-180, 180] degrees of longitude."""
    straight = _unwrapped(ring)
    turn = round((straight[-1][0] - straight[0][0]) / 360)
    if turn:
        # The ring goes round a pole: close it along the edge of the map, where the pole is a line.
        pole = -90.0 if sum(lat for _, lat in straight) < 0 else 90.0
        straight += [(straight[-1][0], pole), (straight[0][0], pole), straight[0]]
    pieces = []
    for shift in (-360.0, 0.0, 360.0):
        moved = [(lon + shift, lat) for lon, lat in straight]
        piece = _clipped(_clipped(moved, -180.0, lambda lon: lon >= -180.0), 180.0, lambda lon: lon <= 180.0)
        if piece:
            pieces.append(piece)
    return pieces


def _unwrapped(ring: Ring) -> Ring:
    """The ring without jumps from 180 to -180; longitudes may leave the usual range."""
    straight = [ring[0]]
    for lon, lat in ring[1:]:
        before = straight[-1][0]
        straight.append((before + (lon - before + 180.0) % 360.0 - 180.0, lat))
    return straight


def _clipped(ring: Ring, edge_lon: float, inside: Callable[[float], bool]) -> Ring:
    """The part of a closed ring on one side of a meridian (Sutherland and Hodgman's clipping)."""
    kept: Ring = []
    for (lon1, lat1), (lon2, lat2) in zip(ring, [*ring[1:], *ring[:1]], strict=True):
        if inside(lon1):
            kept.append((lon1, lat1))
        if inside(lon1) != inside(lon2):
            kept.append((edge_lon, lat1 + (lat2 - lat1) * (edge_lon - lon1) / (lon2 - lon1)))
    return kept


def _in_tenths(ring: Ring) -> list[tuple[int, int]]:
    rounded = [(round(lon * 10), round(lat * 10)) for lon, lat in ring]
    return [point for point, before in zip(rounded, [*rounded[-1:], *rounded[:-1]], strict=True) if point != before]


def _along_seam(ring: list[tuple[int, int]]) -> list[tuple[int, int]]:
    filled: list[tuple[int, int]] = []
    for (lon, lat), (next_lon, next_lat) in zip(ring, [*ring[1:], *ring[:1]], strict=True):
        filled.append((lon, lat))
        if lon == next_lon and abs(lon) == 1800:
            step = STEP_ALONG_SEAM if next_lat > lat else -STEP_ALONG_SEAM
            filled.extend((lon, between) for between in range(lat + step, next_lat, step))
    return filled


def _delta_code(ring: list[tuple[int, int]]) -> list[int]:
    coded, before = [], (0, 0)
    for lon, lat in ring:
        coded += [lon - before[0], lat - before[1]]
        before = (lon, lat)
    return coded


if __name__ == "__main__":
    main()
