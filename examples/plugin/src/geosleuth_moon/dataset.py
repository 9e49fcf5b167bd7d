"""The data set kind `places`: a folder with photos and a file ``places.txt``, a line "FILE LAT LON" for each."""

from collections.abc import Iterator
from pathlib import Path

from geosleuth.geo import LatLon
from geosleuth.lab.bench.sets import Card, DataSet, FilePicture, Item, SetKind
from geosleuth.lab.score import Truth
from geosleuth.support.errors import BadInput

CARD = Card(
    name="places",
    title="Photos beside a list of places",
    photos=None,
    licence="your own",
    home="examples/plugin",
    get="write a file places.txt beside your photos",
    layout="places.txt with a line FILE LAT LON for each photo",
    thresholds_km=(1.0, 25.0, 200.0),
)


def open_places(path: Path, photos: Path | None) -> DataSet:
    """Open the folder; nothing is read before the first pass."""
    table = path / "places.txt"
    if not table.is_file():
        raise BadInput(f"{path}: looked for places.txt")

    def items() -> Iterator[Item]:
        for line in table.read_text(encoding="utf-8").splitlines():
            name, lat, lon = line.split()
            yield Item(name, FilePicture((photos or path) / name), Truth(LatLon(float(lat), float(lon))))

    return DataSet(CARD, path, items)


PLACES = SetKind(CARD, open_places)
