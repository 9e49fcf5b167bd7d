"""Overture's places within a box, from a real server on this machine: only what the box needs is asked for."""

import json
import struct
from collections.abc import Iterator
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from extract_server import ExtractServer, extract_server
from geosleuth.atlas import regions_dir
from geosleuth.atlas.regions import Regions
from in_process import Done, geosleuth

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install '.[atlas]'")
parquet = pytest.importorskip("pyarrow.parquet")

RELEASE = "2026-10-21.0"
PART = f"/release/{RELEASE}/theme=places/type=place/part-00000-abc-c000.zstd.parquet"
BOX = "43.70,7.40,43.76,7.45"
EDGES = pa.struct([(edge, pa.float32()) for edge in ("xmin", "xmax", "ymin", "ymax")])


def place(number: int, lat: float, lon: float) -> dict[str, object]:
    return {
        "id": f"08f39696{number:08x}",
        "geometry": struct.pack("<BIdd", 1, 1, lon, lat),
        "bbox": {"xmin": lon, "xmax": lon, "ymin": lat, "ymax": lat},
        "names": {"primary": f"Café {number:05d}"},
        "categories": {"primary": "cafe"},
        "confidence": 0.9,
        "padding": "".join(sha256(f"{number} {part}".encode()).hexdigest() for part in range(8)),
    }


def packed(table: Any, **how: Any) -> bytes:
    stream = BytesIO()
    parquet.write_table(table, stream, **how)
    return stream.getvalue()


def places_file() -> bytes:
    """Ten row groups from south to north: one holds Monaco, the others lie elsewhere."""
    rows = [place(number, 30 + number / 100, 7.42 + (number % 7) / 1000) for number in range(3000)]
    schema = pa.schema(
        [
            ("id", pa.string()), ("geometry", pa.binary()), ("bbox", EDGES),
            ("names", pa.struct([("primary", pa.string())])),
            ("categories", pa.struct([("primary", pa.string())])),
            ("confidence", pa.float64()), ("padding", pa.string()),
        ]
    )  # fmt: skip
    return packed(pa.Table.from_pylist(rows, schema=schema), row_group_size=300, compression="zstd")


def index(href: str = f"s3://overturemaps-us-west-2{PART}") -> bytes:
    row = {"collection": "place", "bbox": {"xmin": 7, "xmax": 8, "ymin": 30, "ymax": 60}, "assets": {"aws-s3": href}}
    far = row | {"bbox": {"xmin": 100, "xmax": 101, "ymin": 0, "ymax": 1}, "assets": {"aws-s3": "s3://x/far.parquet"}}
    asset = pa.struct([("aws-s3", pa.string())])
    schema = pa.schema([("collection", pa.string()), ("bbox", EDGES), ("assets", asset)])
    return packed(pa.Table.from_pylist([row, far, row | {"collection": "segment"}], schema=schema))


@pytest.fixture
def server(atlas_home: Path) -> Iterator[ExtractServer]:
    assert atlas_home.is_dir()
    with extract_server() as made:
        made.files["/catalog.json"] = json.dumps({"latest": RELEASE}).encode()
        made.files[f"/{RELEASE}/collections.parquet"] = index()
        made.files[PART] = places_file()
        yield made


def get(server: ExtractServer, *words: str, area: str = BOX) -> Done:
    return geosleuth("atlas", "get", area, "--overture", "--mirror", server.url, "--yes", *words)


def downloads(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "cache" / "downloads").glob("*"))


def test_a_box_becomes_a_region_and_only_its_bytes_are_asked_for(server: ExtractServer, atlas_home: Path) -> None:
    done = get(server, "--name", "riviera")
    assert done.returncode == 0, done.stderr
    # 1370 to 1376 lie between 43.70 and 43.76 degrees.
    names = sorted(hit.place.name for hit in Regions(regions_dir()).search_pois("Café", limit=50))
    assert names == [f"Café {number:05d}" for number in range(1370, 1377)]
    asked = [headers["range"] for method, path, headers in server.asked if path == PART and method == "GET"]
    got = sum(int(end) - int(begin) + 1 for begin, end in (one.removeprefix("bytes=").split("-") for one in asked))
    assert got < len(server.files[PART]) / 3
    assert f"from 127.0.0.1, of {RELEASE[:10]}" in done.stderr
    (region,) = json.loads(geosleuth("atlas", "list", "--json").stdout)
    assert (region["name"], region["kind"], region["data_date"]) == ("riviera", "overture", RELEASE[:10])
    assert downloads(atlas_home) == []
    assert "--update replaces it" in get(server, "--name", "riviera").stderr


def test_an_update_of_all_maps_asks_nobody_about_places_and_says_how_they_are_updated(server: ExtractServer) -> None:
    get(server, "--name", "riviera")
    server.asked.clear()
    done = geosleuth("atlas", "get", "--update", "--mirror", server.url, "--yes")
    assert (done.returncode, server.asked) == (0, [])
    assert done.stderr.splitlines() == [
        "riviera has places of Overture and stays as it is; to update it: geosleuth atlas get BOX --overture --update "
        "--name riviera",
        "no map to update",
    ]


def test_a_broken_connection_is_tried_again(server: ExtractServer, monkeypatch: pytest.MonkeyPatch) -> None:
    from geosleuth.atlas.online.http import OnlineClient

    monkeypatch.setattr(OnlineClient, "backoff_s", lambda _self, _attempt: 0.01)
    server.cuts = [None, 2000]
    assert get(server).returncode == 0


def no_release(server: ExtractServer) -> None:
    server.files["/catalog.json"] = b'{"latest": "../../etc"}'


def no_catalogue(server: ExtractServer) -> None:
    del server.files["/catalog.json"]


def gone(server: ExtractServer) -> None:
    del server.files[f"/{RELEASE}/collections.parquet"]


def no_index(server: ExtractServer) -> None:
    server.files[f"/{RELEASE}/collections.parquet"] = b"no parquet"


def elsewhere(server: ExtractServer) -> None:
    server.files[f"/{RELEASE}/collections.parquet"] = index("https://evil.example/places.parquet")


def no_parquet(server: ExtractServer) -> None:
    server.files[PART] = b"x" * 100_000


def damaged(server: ExtractServer) -> None:
    content = bytearray(server.files[PART])
    content[100 : len(content) - 20_000] = bytes(len(content) - 20_100)
    server.files[PART] = bytes(content)


def long_end(server: ExtractServer) -> None:
    server.files[PART] = server.files[PART][:-8] + struct.pack("<I", 2**31 - 1) + b"PAR1"


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (no_release, "names no release"),
        (no_catalogue, "127.0.0.1: has no /catalog.json"),
        (gone, f"127.0.0.1: has no /{RELEASE}/collections.parquet"),
        (no_index, "can't be read as Parquet"),
        (elsewhere, "has no places there"),
        (no_parquet, "is not Parquet"),
        (damaged, "can't be read as Parquet"),
        (long_end, "is not Parquet"),
    ],
)
def test_every_fault_is_one_line_and_leaves_nothing(
    server: ExtractServer, atlas_home: Path, fault: Any, said: str
) -> None:
    fault(server)
    done = get(server)
    assert (done.returncode in (1, 2), done.stdout) == (True, "")
    assert said in done.stderr.splitlines()[-1]
    assert not any("evil" in path for _, path, _ in server.asked)
    assert downloads(atlas_home) == []
    assert json.loads(geosleuth("atlas", "list", "--json").stdout) == []


@pytest.mark.parametrize(
    ("area", "said"),
    [("10,170,20,-170", "180th meridian"), ("1,2,3,4,5", "no place"), ("-10,0,-5,1", "has no places there")],
)
def test_boxes_that_hold_nothing_are_refused(server: ExtractServer, area: str, said: str) -> None:
    done = geosleuth("atlas", "get", "--overture", "--mirror", server.url, "--yes", "--", area)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
