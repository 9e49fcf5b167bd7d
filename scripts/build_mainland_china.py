"""Make the outline of mainland China that online services are chosen by.

Source: npm @rapideditor/country-coder 5.6.1 (ISC), whose borders include coastal waters and leave out Hong Kong and
Macau. They are thinned to a tenth of a degree: of GeoNames' 234,908 places of 500 people and more, 32 are then on the
wrong side.
"""

import json
from pathlib import Path

import shapely
import shapely.geometry

from registry import npm_file

TARGET = Path(__file__).parents[1] / "src/geosleuth/geo/data/mainland_china.json"
TOLERANCE_DEG = 0.1


def main() -> None:
    """Write the outline: rings of [lat, lon], the outer one first."""
    borders = npm_file("@rapideditor/country-coder", "5.6.1", "src/data/borders.json")
    features = json.loads(borders)["features"]
    (mainland,) = (one for one in features if one["properties"]["nameEn"] == "Mainland China")
    (whole,) = shapely.geometry.shape(mainland["geometry"]).geoms
    outer = shapely.Polygon(whole.exterior).simplify(TOLERANCE_DEG).exterior
    # Hong Kong and Macau are the holes; they are smaller than the tolerance and stay as they are.
    rings = [[[round(lat, 3), round(lon, 3)] for lon, lat in ring.coords[:-1]] for ring in (outer, *whole.interiors)]
    TARGET.parent.mkdir(exist_ok=True)
    TARGET.write_text(json.dumps(rings, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
