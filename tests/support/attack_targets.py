"""What `make attack` attacks: for each reader of foreign files or messages its seeds, how to spoil them, how to read.

A reader takes what it is given or refuses it with one of our errors, in one line. Anything else is a fault.
"""

import asyncio
import io
import json
import os
import random
import re
import select
import shutil
import socket
import sqlite3
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from PIL import Image

from geosleuth.support.errors import BadInput, BrokenPlugin
from mutations import Spoil, spoilt_bytes, spoilt_json, spoilt_lines, spoilt_text, spoilt_yaml
from set_files import jpeg, put, put_parquet

ROOT = Path(__file__).resolve().parents[2]
PHOTO_FORMATS = ("jpeg", "png", "webp", "tiff", "heif")
MEMORY_LIMIT = 3 * 1024**3

Take = Callable[[bytes], None]
"""Reads what it is given; raises one of our errors where it refuses."""


@dataclass(frozen=True)
class Target:
    """One reader.

    ``count`` is how many files the whole suite makes for it. ``reading`` opens what reading needs, in a folder of its
    own. ``guided`` says that it is Python which reads, so that covered lines can guide.
    """

    name: str
    group: str
    seeds: Callable[[], list[bytes]]
    reading: Callable[[Path], AbstractContextManager[Take]]
    spoil: Spoil = spoilt_bytes
    count: int = 2000
    seconds: float = 10.0
    guided: bool = False


def _plain(read: Callable[[bytes, Path], object]) -> Callable[[Path], AbstractContextManager[Take]]:
    """Reading that needs nothing but a folder."""

    @contextmanager
    def reading(folder: Path) -> Iterator[Take]:
        def take(data: bytes) -> None:
            read(data, folder)

        yield take

    return reading


def photo_seeds(form: str) -> list[bytes]:
    """Small photos of one format, in the ways of storing pixels that differ most."""
    import numpy as np
    import pillow_heif

    pillow_heif.register_heif_opener()
    noise = np.random.default_rng(7).integers(0, 255, (24, 32, 3), dtype=np.uint8)
    picture = Image.fromarray(noise).resize((80, 60))
    exif = Image.Exif()
    exif[0x0112], exif[0x010F] = 6, "Maker"
    exif.get_ifd(0x8825).update({1: "N", 2: (51.0, 30.0, 5.5), 3: "W", 4: (0.0, 7.0, 30.0)})
    block = exif.tobytes()
    ways: dict[str, list[tuple[str, dict[str, object]]]] = {
        "jpeg": [
            ("RGB", {"exif": block, "comment": b"hello"}), ("RGB", {"progressive": True}), ("CMYK", {}),
            ("L", {"restart_marker_blocks": 4}),
        ],
        "png": [("RGBA", {"exif": block}), ("P", {}), ("I;16", {}), ("1", {})],
        "webp": [
            ("RGBA", {"exif": block, "xmp": b"<x/>"}), ("RGB", {"lossless": True}),
            ("RGB", {"save_all": True, "append_images": [picture.rotate(90)]}),
        ],
        "tiff": [
            ("RGB", {"exif": block}), ("RGB", {"compression": "tiff_lzw"}),
            ("RGB", {"compression": "tiff_adobe_deflate"}), ("RGB", {"compression": "jpeg"}),
            ("CMYK", {"compression": "packbits"}), ("1", {"compression": "group4"}),
            ("F", {"save_all": True, "append_images": [picture]}),
        ],
        "heif": [("RGB", {"exif": block}), ("RGBA", {"save_all": True, "append_images": [picture.rotate(180)]})],
    }  # fmt: skip
    found = []
    for mode, options in ways[form]:
        stream = io.BytesIO()
        source = picture.convert("L") if mode == "I;16" else picture
        source.convert(mode).save(stream, form.upper(), **options)
        found.append(stream.getvalue())
    return found


def _open_photo(data: bytes, _folder: Path) -> None:
    from geosleuth.photo import PhotoLimits, first_view, open_photo

    first_view(open_photo(data, PhotoLimits()).photo)


def _sidecar_seeds() -> list[bytes]:
    from geosleuth.answer import Answer
    from geosleuth.answer.formats import AnswerContext, LocatedAnswer, to_xmp
    from geosleuth.geo import LatLon

    made = to_xmp(
        [LocatedAnswer(Answer(LatLon(43.7384, 7.4246), radius_km=1.0), AnswerContext(city="Monaco", country_code="MC"))]
    )
    return [made.encode(), made.encode("utf-16")]


def _read_sidecar(data: bytes, folder: Path) -> None:
    from geosleuth.photo.sidecar import read_sidecars

    (folder / "photo.jpg.xmp").write_bytes(data)
    read_sidecars(folder / "photo.jpg")


_LISTED = {
    "format": "geosleuth-photos", "version": 1,
    "photos": [
        {"sha256": "ab" * 32, "path": "../a.jpg", "status": "located", "place": "Monaco", "lat": 43.7, "lon": 7.4,
         "radius_km": 1.5, "probability": 0.9, "conflicts": False},
    ],
}  # fmt: skip
_DECIDED = (
    b'{"format": "geosleuth-review", "version": 1}\n'
    b'{"photos": ["abababababababab"], "verdict": "corrected", "lat": 43.7, "lon": 7.4, "country": "Monaco"}\n'
    b'{"wrote": "../a.jpg.xmp", "photo": "abababababababab", "sha256": "00"}\n'
)


def _open_review(part: str, data: bytes, folder: Path) -> None:
    from geosleuth.server.review import JOURNAL, LIST, Review

    (folder / LIST).parent.mkdir(exist_ok=True)
    (folder / LIST).write_bytes(data if part == "photos" else json.dumps(_LISTED).encode())
    (folder / JOURNAL).write_bytes(data if part == "decisions" else _DECIDED)
    review = Review.open(folder)
    try:
        review.counts()
        review.details(review.ids()[0])
    finally:
        review.close()


@cache
def _video_seeds() -> list[bytes]:
    """Short clips, one of each container."""
    from clips import CODECS, clip_bytes

    size = (64, 48)
    pictures = [Image.new("RGB", size, (90 * at % 255, 120, 200 - 40 * at)) for at in range(4)]
    return [clip_bytes(ending, iter(pictures), rate=4, size=size) for ending in sorted(CODECS)]


def _read_video(data: bytes, folder: Path) -> None:
    from geosleuth.photo.video import read_clip
    from geosleuth.photo.video_limits import VideoLimits

    read_clip(put(folder / "clip", data), VideoLimits(cpu_s=20, memory_bytes=1 << 30))


@cache
def _extract_seeds(ending: str) -> list[bytes]:
    """A small town as an extract: nodes, ways, an area, relations; its blocks are not packed."""
    import osmium
    from osmium.osm import mutable

    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / f"town.{ending}"
        form = "pbf,pbf_compression=none" if ending == "osm.pbf" else "osm"
        with osmium.SimpleWriter(osmium.io.File(str(path), form)) as writer:
            for number in range(1, 41):
                at = (7.42 + number / 5000, 43.73 + number % 7 / 5000)
                tags = {"name": f"Café {number}", "amenity": "cafe", "addr:housenumber": str(number)}
                writer.add_node(mutable.Node(id=number, location=at, tags=tags if number % 2 else {}))
            street = {"highway": "residential", "name": "Rue Grimaldi", "name:it": "Via Grimaldi"}
            writer.add_way(mutable.Way(id=1, nodes=[1, 2, 3, 4], tags=street))
            writer.add_way(mutable.Way(id=2, nodes=[4, 5, 6, 7], tags=street))
            writer.add_way(mutable.Way(id=3, nodes=[10, 11, 17, 16, 10], tags={"building": "yes", "name": "Mairie"}))
            writer.add_way(mutable.Way(id=4, nodes=[20, 21, 27, 26, 20], tags={"leisure": "park"}))
            ring = {"type": "multipolygon", "natural": "water", "name": "Lac"}
            writer.add_relation(mutable.Relation(id=1, members=[("w", 4, "outer")], tags=ring))
            sides = {"type": "associatedStreet", "name": "Rue Grimaldi"}
            writer.add_relation(mutable.Relation(id=2, members=[("w", 1, "street"), ("n", 5, "house")], tags=sides))
        return [path.read_bytes()]


def _import(name: str, data: bytes, folder: Path, read: Callable[[Path, Path], object]) -> None:
    """Give a file to an import into an atlas of its own, which must hold one region or nothing then."""
    into = folder / "atlas"
    shutil.rmtree(into, ignore_errors=True)
    try:
        read(put(folder / name, data), into)
    except BadInput:
        left = [path.name for path in into.iterdir()] if into.is_dir() else []
        assert left == [], f"a refused file leaves {left}"
        raise


def _import_osm(ending: str, data: bytes, folder: Path) -> None:
    from geosleuth.atlas.regions import import_osm

    _import(f"town.{ending}", data, folder, lambda path, into: import_osm(path, "town", folder=into))


def _import_geonames(ending: str, data: bytes, folder: Path) -> None:
    from geosleuth.atlas.gazetteers import import_geonames

    _import(f"made.{ending}", data, folder, lambda path, into: import_geonames(path, "made", folder=into))


def _import_natural_earth(data: bytes, folder: Path) -> None:
    from geosleuth.atlas.gazetteers.natural_earth import import_natural_earth

    _import("ne.geojson", data, folder, lambda path, into: import_natural_earth(path, "ne", folder=into))


def _import_overture(data: bytes, folder: Path) -> None:
    from geosleuth.atlas.regions import import_overture

    _import("places.parquet", data, folder, lambda path, into: import_overture(path, "places", folder=into))


def _geonames_seeds() -> list[bytes]:
    rows = [
        (1, "Balaton", "Lake Balaton,Plattensee,バラトン湖", 46.83, 17.73, "H", "LK", "HU", 0),
        (2, "Springfield", "", 39.8, -89.64, "P", "PPL", "US", 114_000),
        (3, "桂山岛", "Guishan Island", 22.13, 113.83, "T", "ISL", "CN", 0),
    ]
    lines = []
    for number, name, more, lat, lon, group, kind, land, people in rows:
        cells = (number, name, "", more, lat, lon, group, kind, land, *[""] * 5, people, "", "", "UTC", "2026-01-01")
        lines.append("\t".join(map(str, cells)))
    return ["".join(f"{line}\n" for line in lines).encode()]


def _zipped(contents: Mapping[str, bytes], compression: int) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return stream.getvalue()


def _natural_earth_seeds() -> list[bytes]:
    ring = [[17, 46], [18, 46], [18, 47], [17, 47], [17, 46]]
    features = [
        {"type": "Feature", "properties": {"featurecla": "Lake", "name": "Balaton", "name_de": "Plattensee"},
         "geometry": {"type": "Polygon", "coordinates": [ring]}},
        {"type": "Feature", "properties": {"featurecla": "River", "name": "Danube", "scalerank": 1},
         "geometry": {"type": "LineString", "coordinates": [[16, 48], [19, 47.5]]}},
        {"type": "Feature", "properties": {"featurecla": "Mountain", "name": "Kékes", "elevation": 1014},
         "geometry": {"type": "Point", "coordinates": [20, 47.87]}},
    ]  # fmt: skip
    return [json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False).encode()]


def _overture_seeds() -> list[bytes]:
    point = struct.pack("<BIdd", 1, 1, 16.37, 48.2)
    columns = {
        "id": ["08f3969600000001"] * 3,
        "geometry": [point] * 3,
        "names": [{"primary": name, "common": None, "rules": None} for name in ("Kaffeehaus", "Кафе", "茶")],
        "categories": [{"primary": "cafe", "alternate": ["bakery"]}] * 3,
        "confidence": [0.9, 0.5, None],
        "phones": [["+43 1 5551234"], None, []],
    }
    return _parquet(columns)


def _parquet(columns: Mapping[str, Any]) -> list[bytes]:
    with tempfile.TemporaryDirectory() as name:
        return [put_parquet(Path(name) / "made.parquet", columns).read_bytes()]


def _tiles_seeds() -> list[bytes]:
    out = io.BytesIO()
    Image.new("RGB", (16, 16), (200, 0, 0)).save(out, "PNG")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "made.mbtiles"
        conn = sqlite3.connect(path, isolation_level=None)
        conn.executescript(
            "PRAGMA page_size = 512; CREATE TABLE metadata (name TEXT, value TEXT);"
            "CREATE TABLE tiles (zoom_level INTEGER, tile_column INTEGER, tile_row INTEGER, tile_data BLOB);"
        )
        conn.executemany("INSERT INTO metadata VALUES (?, ?)", [("format", "png"), ("attribution", "Somebody")])
        conn.executemany(
            "INSERT INTO tiles VALUES (1, ?, ?, ?)", [(x, y, out.getvalue()) for x in (0, 1) for y in (0, 1)]
        )
        conn.close()
        mbtiles = path.read_bytes()
    # One root directory, not packed, with one tile in it.
    directory, metadata = bytes([1, 0, 1, *_varint(len(out.getvalue())), 1]), b"{}"
    starts = [127, len(directory), 127 + len(directory), len(metadata), 0, 0, 127 + len(directory) + len(metadata)]
    numbers = [*starts, len(out.getvalue()), 1, 1, 1]
    head = struct.pack("<7sB11Q6B4iB2i", b"PMTiles", 3, *numbers, 1, 1, 1, 2, 0, 0, *([0] * 7))
    return [mbtiles, head + directory + metadata + out.getvalue()]


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def _look_from_above(data: bytes, folder: Path) -> None:
    from geosleuth.atlas.maps import satellite
    from geosleuth.geo import LatLon

    path = put(folder / "from.above", data)
    for zoom in (0, 1, 2):
        satellite(path, LatLon(10, 10), zoom)


_IN_ARCHIVE = {f"images/{number}.jpg": jpeg(number, (8, 6)) for number in range(3)}


def _archive_seeds(kind: str) -> list[bytes]:
    if kind == "zip":
        return [_zipped(_IN_ARCHIVE, way) for way in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)]
    if kind == "tar":
        found = []
        for form in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
            stream = io.BytesIO()
            with tarfile.open(fileobj=stream, mode="w", format=form) as archive:
                for name, data in _IN_ARCHIVE.items():
                    info = tarfile.TarInfo(name if form == tarfile.USTAR_FORMAT else "ü" * 60 + name)
                    info.size = len(data)
                    archive.addfile(info, io.BytesIO(data))
            found.append(stream.getvalue().rstrip(b"\0") + bytes(1024))
        return found
    return [b"".join(_record(name, data) for name, data in _IN_ARCHIVE.items())]


def _record(name: str, data: bytes) -> bytes:
    """An entry of a shard of photos, in MessagePack."""
    words = [b"\xa2id", bytes([0xA0 + len(name)]) + name.encode(), b"\xa5image", b"\xc5" + struct.pack(">H", len(data))]
    return b"\x82" + b"".join(words) + data


def _unpack(file: str, data: bytes, folder: Path) -> None:
    from geosleuth.lab.bench.sets.archives import Shelf

    put(folder / "shelf" / file, data)
    trouble: BadInput | None = None
    shelf = Shelf(folder / "shelf")
    for name in _IN_ARCHIVE:
        try:
            shelf.picture(name).read()
        except BadInput as error:
            trouble = error
    if trouble is not None:
        raise trouble


_ROWS: list[dict[str, Any]] = [
    {"id": "a", "image": "a.jpg", "lat": 48.85, "lon": 2.35, "country": "France", "city": "Paris", "tier": "easy",
     "boxes": [{"kind": "text", "box": [0.1, 0.1, 0.5, 0.5]}]},
    {"id": "b", "image": "b.jpg", "lat": "-33.9", "lon": "151.2", "country": "AU", "city": "Sydney", "tier": "hard"},
    {"id": "c", "image": "../c.jpg", "lat": 91, "lon": 10, "country": "Nowhere", "city": "", "tier": None},
]  # fmt: skip


def _table_seeds(ending: str) -> list[bytes]:
    if ending == "jsonl":
        return [b"".join(json.dumps(row).encode() + b"\n" for row in _ROWS)]
    if ending == "json":
        return [json.dumps(_ROWS).encode(), json.dumps({"photos": _ROWS}).encode()]
    if ending == "parquet":
        columns = {
            "image": [{"bytes": jpeg(at, (8, 6)), "path": f"{at}.jpg"} for at in range(3)],
            "id": ["a", "b", "c"],
            "lat": [48.85, -33.9, 10.0],
            "lon": [2.35, 151.2, 20.0],
            "country": ["France", "Australia", None],
        }
        return _parquet(columns)
    names = ("id", "image", "lat", "lon", "country", "city", "tier")
    lines = [names, *([str(row[name]) for name in names] for row in _ROWS)]
    return [
        "".join(f"{separator.join(line)}\n" for line in lines).encode() for separator in (",", ";")
    ]  # fmt: skip


def _read_set(kind: str, file: str, data: bytes, folder: Path) -> None:
    from geosleuth.lab.bench.sets import describe, open_set

    put(folder / file, data)
    describe(open_set(f"{kind}:{folder / file}"))


_SIGNS = b"""<?xml version="1.0" encoding="utf-8"?><tagset><image><imageName>img/14_03.jpg</imageName>
<address>341 Southwest 10th Avenue Portland OR</address><lex>LIVING,ROOM</lex><Resolution x="1280" y="880"/>
<taggedRectangles><taggedRectangle height="88" width="128" x="320" y="220"><tag>LIVING</tag></taggedRectangle>
<taggedRectangle height="88" width="128" x="1300" y="220"><tag>OUTSIDE</tag></taggedRectangle></taggedRectangles>
</image></tagset>"""


def _example_answers() -> list[bytes]:
    lines = (ROOT / "examples" / "answers" / "careful.jsonl").read_bytes().splitlines(keepends=True)
    return [b"".join(lines[:4]), b"".join(lines[-4:])]


def _read_answers(data: bytes, folder: Path) -> None:
    from geosleuth.lab.bench.records import read_records

    for record in read_records(put(folder / "answers.jsonl", data)):
        record.read("lenient")
        record.read("strict")


_NOTES = b"file,country,region,precise,notes,lat,lon\na.jpg,France,Paris,Rue X,A sign,48.8,2.3\nb.jpg,DE,,,,,\n"


def _read_notes(data: bytes, folder: Path) -> None:
    from geosleuth.lab.traces.annotations import read_notes

    for _ in read_notes(put(folder / "notes.csv", data)):
        pass


@cache
def _small_store() -> Path:
    from training_runs import short_store

    return short_store(Path(tempfile.mkdtemp(prefix="geosleuth-store-")) / "store", 2)


def _store_seeds(part: str) -> list[bytes]:
    store = _small_store()
    return [path.read_bytes() for path in sorted(store.rglob("*.json" if part == "manifest" else "*.parquet"))[:1]]


@contextmanager
def _reading_store(part: str, folder: Path) -> Iterator[Take]:
    from geosleuth.lab.traces import Store

    copy = Path(shutil.copytree(_small_store(), folder / "store"))
    spoilt = min(copy.rglob("*.json" if part == "manifest" else "*.parquet"))

    def take(data: bytes) -> None:
        spoilt.write_bytes(data)
        store = Store(copy)
        for _ in store.samples():
            pass

    yield take


@contextmanager
def _reading_run(part: str, folder: Path) -> Iterator[Take]:
    from geosleuth.lab.bench.run import RunFolder

    run = Path(shutil.copytree(_small_run(), folder / "run"))

    def take(data: bytes) -> None:
        (run / part).write_bytes(data)
        with RunFolder.read(run) as opened:
            list(opened.tries())

    yield take


@cache
def _small_run() -> Path:
    from bench_child import make_photos, work

    folder = Path(tempfile.mkdtemp(prefix="geosleuth-run-"))
    work(make_photos(folder / "photos", 4), folder / "run")
    return folder / "run"


def _run_seeds(part: str) -> list[bytes]:
    return [(_small_run() / part).read_bytes()]


@cache
def _trajectory_seeds() -> list[bytes]:
    from export_runs import detective_run, resumed_run
    from geosleuth.agent import write_trajectory

    found = []
    with tempfile.TemporaryDirectory() as name:
        for number, run in enumerate((detective_run(), resumed_run())):
            write_trajectory(Path(name) / f"{number}.jsonl", run)
            found.append((Path(name) / f"{number}.jsonl").read_bytes())
    return found


def _read_trajectory(data: bytes, folder: Path) -> None:
    from geosleuth.agent import read_trajectory, rebuild_album
    from geosleuth.agent.exports import export

    trajectory = read_trajectory(put(folder / "run.jsonl", data))
    export(trajectory, "openai")
    rebuild_album(trajectory, [_photo_of_the_run()])


@cache
def _photo_of_the_run() -> Any:
    from small_runs import small_photo

    return small_photo()


def _recipe_seeds() -> list[bytes]:
    return [path.read_bytes() for path in sorted((ROOT / "src/geosleuth/lab/train/recipes").glob("*.yaml"))]


def _read_recipe(data: bytes, folder: Path) -> None:
    from geosleuth.lab.train.recipe_files import read_recipe

    read_recipe(put(folder / "recipe.yaml", data))


def _read_reward(data: bytes, folder: Path) -> None:
    from geosleuth.lab.score.rewards.reward import read_reward

    read_reward(str(put(folder / "reward.yaml", data)))


def _reward_seeds() -> list[bytes]:
    import yaml

    from geosleuth.lab.score.rewards.reward import PRESETS

    return [yaml.safe_dump(PRESETS[name].to_dict()).encode() for name in ("ours", "spotagent", "geoagent")]


def _read_team(data: bytes, folder: Path) -> None:
    from geosleuth.teams.swarm.spec import read_team

    read_team(put(folder / "team.yaml", data))


_LENDERS = json.dumps(
    {
        "mcpServers": {
            "maps": {"command": "maps-server", "args": ["--stdio"], "env": {"A": "b"}},
            "web": {"url": "https://tools.example/mcp", "headers": {"X-Key": "k"}},
        }
    }
).encode()


def _read_lenders(data: bytes, folder: Path) -> None:
    from geosleuth.tools.borrowed import read_lenders

    read_lenders(put(folder / "lenders.json", data))


_SETTINGS = b'# Written by geosleuth setup.\nmodel = "ollama:qwen3-vl:4b"\nbase_url = "http://127.0.0.1:11434/v1"\n'
_PROFILE = b'method = "twm"\nturns = 5\ncalls = 9\ntemperature = 0.5\nallow = ["a.example"]\nhosts = ["a.example"]\n'


def _read_settings(data: bytes, folder: Path) -> None:
    from geosleuth.pipeline.defaults import config_file, read_defaults

    os.environ["GEOSLEUTH_HOME"] = str(folder)
    put(config_file(), data)
    read_defaults()


def _read_profile(data: bytes, folder: Path) -> None:
    from geosleuth.pipeline.defaults import config_file
    from geosleuth.pipeline.profiles import read_profile

    os.environ["GEOSLEUTH_HOME"] = str(folder)
    put(config_file().parent / "profiles" / "mine.toml", data)
    read_profile("mine")


_AREAS = [
    {"type": "Polygon", "coordinates": [[[7, 43], [8, 43], [8, 44], [7, 44], [7, 43]]]},
    {"type": "FeatureCollection", "features": [
        {"type": "Feature", "properties": {}, "geometry": {"type": "MultiPolygon", "coordinates": [
            [[[170, -20], [190, -20], [190, -10], [170, -10], [170, -20]], [[175, -18], [176, -18], [176, -17],
             [175, -18]]], [[[0, 0], [9, 9], [9, 0], [0, 9], [0, 0]]]]}},
    ]},
]  # fmt: skip


def _read_area(data: bytes, folder: Path) -> None:
    from geosleuth.pipeline.area import parse_area

    parse_area(str(put(folder / "area.geojson", data)))


@cache
def _package_seeds() -> list[bytes]:
    from export_runs import detective_run, resumed_run
    from geosleuth.agent.locate import Finding
    from geosleuth.photo import Claims
    from geosleuth.report.evidence_package import evidence_package

    claims = (Claims("JPEG", 0, "ab" * 32, (80, 60)),)
    return [evidence_package(Finding(run, claims), "<p>report</p>") for run in (detective_run(), resumed_run())]


def _read_package(data: bytes, folder: Path) -> None:
    from geosleuth.report.evidence_package import open_package

    open_package(put(folder / "case.zip", data))


def _spoilt_package(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """One file of a package spoilt in its own form, mostly with its digests made anew."""
    import hashlib

    from geosleuth.report.evidence_package import MANIFEST, pack_zip

    files = dict(_unzipped(data))
    name = rng.choice([one for one in files if one != MANIFEST])
    kinds = {"json": spoilt_json, "jsonl": spoilt_lines}
    spoil = kinds.get(name.rpartition(".")[2], spoilt_text)
    files[name] = spoil(files[name], dict(_unzipped(other)).get(name, other), rng)
    if rng.random() < 0.9:
        listed = [(hashlib.sha256(one).hexdigest(), each) for each, one in files.items() if each != MANIFEST]
        files[MANIFEST] = "".join(f"{digest}  {each}\n" for digest, each in listed).encode()
    return pack_zip(files) if rng.random() < 0.9 else spoilt_bytes(pack_zip(files), other, rng)


def _unzipped(data: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            yield name, archive.read(name)


_PLUGIN = b"""[geosleuth.tools]
moon_phase = geosleuth_moon.tool:moon_phase
[geosleuth.methods]
moonlit = geosleuth_moon.method:moonlit
[geosleuth.policies]
fixed = geosleuth_moon.policy:make_fixed
[geosleuth.datasets]
places = geosleuth_moon.dataset:PLACES
[geosleuth.exporters]
calls = geosleuth_moon.exporter:calls
"""


@contextmanager
def _naming_parts(folder: Path) -> Iterator[Take]:
    """The example plug-in installed; what names its parts is spoilt, and every part is loaded."""
    from geosleuth.support import plugins
    from geosleuth.tools.toolset import with_plugins
    from plugin_package import forget, installed

    with installed(folder / "site") as site:
        (info,) = site.glob("geosleuth_moon-*.dist-info")

        def take(data: bytes) -> None:
            (info / "entry_points.txt").write_bytes(data)
            forget()
            parts = [one for kind in plugins.KINDS for one in plugins.list_installed(kind)]
            for part in parts:
                with suppress(BrokenPlugin):
                    part.load(lambda found: found)
            _, broken = with_plugins()
            for one in broken:
                if "geosleuth-broken" not in str(one):
                    raise one

        yield take


_REPLIES = [
    json.dumps({"lat": 48.85, "lon": 2.35, "country": {"conclusion": "France", "clues": ["sign"]}, "probability": 0.7,
                "radius_km": 5, "candidates": [{"lat": 1, "lon": 2, "probability": 0.1}]}).encode(),
    b'<think>A sign.</think>\n<tool_call>{"name": "read_text", "arguments": {"image": "image-1"}}</tool_call>',
    "Country: France\nCity: Paris\nCoordinates: 48° 51' 24\" N, 2° 21' 07\" E\n\\boxed{48.85, 2.35}".encode(),
    b"<answer>{\"latitude\": \"48.85 N\", \"longitude\": \"2.35 E\"}</answer>",
]  # fmt: skip


def _read_reply(data: bytes, _folder: Path) -> None:
    from geosleuth.answer import parse_lenient, parse_strict
    from geosleuth.models.tagged import read_reply

    text = data.decode("utf-8", "replace")
    parse_lenient(text)
    parse_strict(text)
    read_reply(text, first_id=1)


_MAP_REPLIES = [
    json.dumps([{"lat": "51.5", "lon": "-0.12", "display_name": "London, England", "osm_type": "node", "osm_id": 1,
                 "boundingbox": ["51.2", "51.7", "-0.5", "0.3"], "importance": 0.9, "class": "place", "type": "city",
                 "address": {"city": "London", "country": "United Kingdom", "country_code": "gb"},
                 "namedetails": {"name": "London"}}]).encode(),
    json.dumps({"lat": "51.5", "lon": "-0.12", "display_name": "London", "osm_type": "way", "osm_id": 2,
                "address": {"road": "Strand", "country_code": "gb"}}).encode(),
    json.dumps({"features": [{"type": "Feature", "geometry": {"type": "Point", "coordinates": [7.42, 43.73]},
                "properties": {"name": "Casino", "osm_id": 3, "osm_type": "N", "countrycode": "MC",
                "osm_key": "tourism", "osm_value": "attraction", "extent": [7.4, 43.7, 7.5, 43.8]}}]}).encode(),
    json.dumps({"elements": [{"type": "node", "id": 1, "lat": 43.7, "lon": 7.4, "tags": {"name": "Café"}},
                {"type": "way", "id": 2, "center": {"lat": 43.7, "lon": 7.4}, "tags": {"shop": "bakery"}}]}).encode(),
]  # fmt: skip


@contextmanager
def _asking_maps(folder: Path) -> Iterator[Take]:
    """A map service on loopback that answers every question with what is given; three of ours ask it."""
    from geosleuth.atlas.online import OnlineSettings, make_online
    from geosleuth.geo import LatLon
    from geosleuth.support.errors import ServiceFault
    from openai_server import Reply, openai_server

    said = [b"[]"]
    with openai_server([lambda _request: Reply(said[0])]) as url:
        services = ("nominatim", "photon", "overpass")
        settings = OnlineSettings(
            allow_hosts=frozenset({"127.0.0.1"}),
            private_hosts=frozenset({"127.0.0.1"}),
            base_urls=dict.fromkeys(services, url.root),
            spacing_s={"127.0.0.1": 0.0},
            cache_path=folder / "online.sqlite",
            cache_hours=dict.fromkeys(services, 0.0),
            tries=1,
            breaker_failures=10**9,
        )

        async def ask() -> None:
            trouble: ServiceFault | None = None
            understood = False
            for name in services:
                async with make_online(name, settings) as atlas:
                    asked = (
                        [atlas.nearby(LatLon(43.7, 7.4), 100)]
                        if name == "overpass"
                        else [atlas.geocode("London"), atlas.reverse(LatLon(51.5, -0.12))]
                    )
                    for one in asked:
                        try:
                            await one
                            understood = True
                        except ServiceFault as error:
                            trouble = error
            if trouble is not None and not understood:
                raise trouble

        def take(data: bytes) -> None:
            said[0] = data
            asyncio.run(ask())

        yield take


@dataclass
class _Mcp:
    """``geosleuth mcp`` in a process of its own, and how it is talked to."""

    home: Path
    asked: int = 0
    _process: "subprocess.Popen[bytes] | None" = field(default=None)

    def send(self, data: bytes) -> None:
        """Send lines, then ask for its tools; what is not answered is a fault."""
        if self._process is None or self._process.poll() is not None:
            self._begin()
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        self.asked += 1
        mark = f"mark-{self.asked}"
        try:
            process.stdin.write(data.replace(b"\r", b" ") + b"\n" + self._request(mark, "tools/list") + b"\n")
            process.stdin.flush()
        except BrokenPipeError:
            raise AssertionError(f"the server ended: {self._said()}") from None
        refused = None
        while line := process.stdout.readline():
            reply = json.loads(line)
            if "a bug in" in self._said() or "Traceback" in self._said():
                raise AssertionError(f"a bug: {self._said()[-800:]}")
            if reply.get("id") == mark:
                if refused is not None:
                    raise BadInput(refused)
                return
            if "error" in reply or (reply.get("result") or {}).get("isError"):
                refused = "refused"
        raise AssertionError(f"the server ended: {self._said()[-800:]}")

    def _begin(self) -> None:
        self._stderr = (self.home / "mcp.log").open("w+b")
        env = {**os.environ, "GEOSLEUTH_HOME": str(self.home), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "geosleuth", "mcp"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr, env=env,
        )  # fmt: skip
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        first = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "attack", "version": "1"}}
        self._process.stdin.write(self._request("begin", "initialize", first) + b"\n")
        self._process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self._process.stdin.flush()
        self._process.stdout.readline()

    def _said(self) -> str:
        return (self.home / "mcp.log").read_text(errors="replace")

    @staticmethod
    def _request(number: str, method: str, params: Mapping[str, Any] | None = None) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}).encode()

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._stderr.close()


def home_for(folder: Path) -> Path:
    """A home with the base atlas in it: that of whoever runs this where it is there, built otherwise."""
    from geosleuth.atlas.base import ensure_base
    from homes import home_with_base

    base = Path(os.environ.get("ATTACK_BASE") or ensure_base())
    return home_with_base(folder / "home", base)


@contextmanager
def _talking_mcp(folder: Path) -> Iterator[Take]:
    server = _Mcp(home_for(folder))
    try:
        yield server.send
    finally:
        server.close()


def _mcp_seeds() -> list[bytes]:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("maps_geocode", {"address": "Rue Grimaldi, Monaco"}),
        ("reverse_geocode", {"latitude": 43.7384, "longitude": 7.4246}),
        ("nearby", {"latitude": 43.7384, "longitude": 7.4246, "radius_m": 300}),
        ("country_facts", {"country": "Monaco"}),
        ("text_clues", {"text": "Tel. +377 93 15 22 22"}),
        ("weigh_sightings", {"sightings": ["cars drive on the left", "red soil"]}),
        ("sun_position", {"time": "2024-06-21T12:00Z", "place": "Monaco", "shadow_ratio": 0.5}),
        ("range_fix", {"towns": ["Lyon", "Marseille"], "distances": [200, 180]}),
        ("note_hypothesis", {"place": "Monaco", "confidence": 0.6, "evidence_for": ["a sign"]}),
        ("open_photo", {"data": "/9j/4AAQSkZJRg=="}),
        ("image_zoom_in_tool", {"photo": "photo-1", "bbox_2d": [0, 0, 9, 9]}),
    ]
    messages: list[dict[str, Any]] = [
        {"method": "tools/call", "params": {"name": name, "arguments": arguments}} for name, arguments in calls
    ]
    messages += [
        {"method": "tools/list", "params": {"cursor": "1"}},
        {"method": "ping"},
        {"method": "notifications/cancelled", "params": {"requestId": 7, "reason": "enough"}},
        {"method": "resources/read", "params": {"uri": "file:///etc/passwd"}},
    ]
    return [json.dumps({"jsonrpc": "2.0", "id": 7, **message}).encode() for message in messages]


def _http_seeds() -> list[bytes]:
    """Requests to every route but those that keep keys; CASE and RUN are put in when they are sent."""
    photo = jpeg(3)
    requests: list[tuple[str, str, object]] = [
        ("GET", "/api/health", None), ("GET", "/api/about", None), ("GET", "/api/cases?limit=5&after=x", None),
        ("GET", "/api/cases/CASE", None), ("PATCH", "/api/cases/CASE", {"title": "New", "notes": "n"}),
        ("POST", "/api/cases", {"title": "A case"}), ("POST", "/api/cases/CASE/photos?name=a.jpg", photo),
        ("GET", "/api/cases/CASE/photos/1?size=200", None), ("DELETE", "/api/cases/CASE/photos/9", None),
        ("POST", "/api/cases/CASE/runs", {"model": "replay:none.jsonl", "hint": "An island.", "budget": {"turns": 3}}),
        ("GET", "/api/runs/RUN", None), ("GET", "/api/runs/RUN/view", None), ("GET", "/api/runs/RUN/result", None),
        ("GET", "/api/runs/RUN/events", None), ("GET", "/api/runs/RUN/files/geojson", None),
        ("POST", "/api/runs/RUN/continue", {"hint": "x", "model": "replay:none.jsonl"}),
        ("POST", "/api/runs/RUN/cancel", {}), ("POST", "/api/runs/RUN/check", {"lat": 43.7, "lon": 7.4}),
        ("GET", "/api/compare?left=RUN&right=RUN", None),
        ("GET", "/api/settings", None), ("PUT", "/api/settings", {"offline": True, "retention_days": 3}),
        ("POST", "/api/session", {"token": "t"}), ("GET", "/tiles/style/light.json", None), ("GET", "/", None),
    ]  # fmt: skip
    made = []
    for method, path, body in requests:
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        kind = "application/octet-stream" if isinstance(body, bytes) else "application/json"
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: HOST\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\n\r\n"
        )
        made.append(head.encode() + content)
    return made


def _spoilt_request(data: bytes, other: bytes, rng: random.Random) -> bytes:
    """The body's values, the path and headers, or any byte of it."""
    head, _, body = data.partition(b"\r\n\r\n")
    way = rng.random()
    if body.startswith(b"{") and way < 0.7:
        body = spoilt_json(body, other, rng)
        head = re.sub(rb"Content-Length: \d+", b"Content-Length: %d" % len(body), head)
        return head + b"\r\n\r\n" + body
    if body and way < 0.3:
        return head + b"\r\n\r\n" + spoilt_bytes(body, other, rng)
    if way < 0.6:
        method, path, *rest = head.split(b" ")
        return b" ".join([method, spoilt_text(path, other, rng).replace(b"\r\n", b""), *rest]) + b"\r\n\r\n" + body
    return spoilt_text(data, other, rng)


@contextmanager
def _talking_http(folder: Path) -> Iterator[Take]:
    """``geosleuth serve`` in a process of its own, asked by raw bytes, a connection each, at the pace it allows."""
    from serving import photo_bytes, recording, served

    home = home_for(folder)
    with ExitStack() as stack:
        server = stack.enter_context(served(home))
        assert server.process is not None
        errors: list[str] = []
        assert server.process.stderr is not None
        threading.Thread(target=lambda: errors.extend(server.process.stderr), daemon=True).start()  # type: ignore[union-attr,arg-type]
        host = server.url.removeprefix("http://")
        recorded = recording(folder / "run.jsonl", 2)
        case = server.case(photo_bytes("Rue Grimaldi"), title="attacked")
        run = server.start(case, model=f"replay:{recorded}")
        assert server.over(run, 120) == "done"
        due = [time.monotonic()]

        def take(data: bytes) -> None:
            for word, real in ((b"CASE", case), (b"RUN", run), (b"HOST", host)):
                data = data.replace(word, real.encode())
            # The service takes 200 requests a second of one client; what is over its pace would be refused unread.
            due[0] = max(due[0] + 0.0055, time.monotonic() - 0.5)
            time.sleep(max(0.0, due[0] - time.monotonic()))
            status = _asked(host, data)
            assert server.process is not None
            assert server.process.poll() is None, f"the server ended: {errors[-20:]}"
            assert status < 500, f"status {status}: {''.join(errors[-12:])}"
            if status == 429 or not 100 <= status < 400:
                raise BadInput(f"status {status}")

        yield take


def _asked(host: str, data: bytes) -> int:
    """The status that raw bytes are answered with; 400 where the server just hangs up."""
    name, _, port = host.rpartition(":")
    with socket.create_connection((name, int(port)), timeout=9) as connection:
        reply = b""
        # It may hang up in the middle of what it does not want to read.
        with suppress(ConnectionError):
            connection.sendall(data)
            # What is complete is answered soon; of what is not, the server hears that no more comes.
            if not select.select([connection], [], [], 0.15)[0]:
                connection.shutdown(socket.SHUT_WR)
            while b"\r\n" not in reply and (piece := connection.recv(4096)):
                reply += piece
    words = reply.split(b" ", 2)
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 400


def _targets() -> Iterator[Target]:
    for form in PHOTO_FORMATS:
        yield Target(f"photo-{form}", "photos", partial(photo_seeds, form), _plain(_open_photo), count=6000)
    # Each is decoded by a process of its own, which takes half a second to start.
    yield Target("video", "videos", _video_seeds, _plain(_read_video), count=300, seconds=60)
    yield Target("sidecar", "photos", _sidecar_seeds, _plain(_read_sidecar), spoilt_text, 3000, guided=True)
    listed, decided = (_plain(partial(_open_review, part)) for part in ("photos", "decisions"))
    yield Target("review-photos", "photos", lambda: [json.dumps(_LISTED).encode()], listed, spoilt_json, 2000)
    yield Target("review-decisions", "photos", lambda: [_DECIDED], decided, spoilt_lines, 2000)
    spoil: Spoil
    for ending, spoil, count in (("osm.pbf", spoilt_bytes, 3000), ("osm", spoilt_text, 1000)):
        read = _plain(partial(_import_osm, ending))
        yield Target(f"extract-{ending}", "extracts", partial(_extract_seeds, ending), read, spoil, count, 20)
    yield Target(
        "geonames-txt", "extracts", _geonames_seeds, _plain(partial(_import_geonames, "txt")), spoilt_text, 1000
    )
    zipped = partial(lambda: [_zipped({"made.txt": one}, zipfile.ZIP_DEFLATED) for one in _geonames_seeds()])
    yield Target("geonames-zip", "extracts", zipped, _plain(partial(_import_geonames, "zip")), count=1000)
    yield Target("natural-earth", "extracts", _natural_earth_seeds, _plain(_import_natural_earth), spoilt_json, 1000)
    yield Target("overture", "extracts", _overture_seeds, _plain(_import_overture), count=1000)
    yield Target("map-tiles", "extracts", _tiles_seeds, _plain(_look_from_above), count=1500)
    for kind, file in (("zip", "a.zip"), ("tar", "a.tar"), ("shard", "shard_0.msg")):
        read = _plain(partial(_unpack, file))
        yield Target(f"archive-{kind}", "archives", partial(_archive_seeds, kind), read, count=6000)
    tables: tuple[tuple[str, Spoil, bool], ...] = (
        ("csv", spoilt_text, True), ("jsonl", spoilt_lines, True), ("json", spoilt_json, True),
        ("parquet", spoilt_bytes, False),
    )  # fmt: skip
    for ending, spoil, guided in tables:
        kind = "hf" if ending == "parquet" else "table"
        read = _plain(partial(_read_set, kind, f"made.{ending}"))
        yield Target(f"table-{ending}", "data sets", partial(_table_seeds, ending), read, spoil, 3000, guided=guided)
    signs = _plain(partial(_read_set, "street-view-text", "test.xml"))
    yield Target("street-view-text", "data sets", lambda: [_SIGNS], signs, spoilt_text, 3000, guided=True)
    yield Target("answers", "data sets", _example_answers, _plain(_read_answers), spoilt_lines, 4000, guided=True)
    yield Target("notes", "data sets", lambda: [_NOTES], _plain(_read_notes), spoilt_text, 3000, guided=True)
    for part, spoil in (("manifest", spoilt_json), ("shard", spoilt_bytes)):
        seeds, reading = partial(_store_seeds, part), partial(_reading_store, part)
        yield Target(f"store-{part}", "data sets", seeds, reading, spoil, 600)
    for part, spoil in (("manifest.json", spoilt_json), ("journal.jsonl", spoilt_lines)):
        seeds, reading = partial(_run_seeds, part), partial(_reading_run, part)
        yield Target(f"bench-{part.partition('.')[0]}", "data sets", seeds, reading, spoil, 2000)
    yield Target(
        "trajectory", "trajectories", _trajectory_seeds, _plain(_read_trajectory), spoilt_lines, 3000, guided=True
    )
    yield Target("recipe", "recipes", _recipe_seeds, _plain(_read_recipe), spoilt_yaml, 3000, guided=True)
    yield Target("reward", "recipes", _reward_seeds, _plain(_read_reward), spoilt_yaml, 2000, guided=True)
    team = ROOT / "examples" / "team.yaml"
    yield Target("team", "recipes", lambda: [team.read_bytes()], _plain(_read_team), spoilt_yaml, 2000, guided=True)
    yield Target(
        "mcp-servers", "MCP messages", lambda: [_LENDERS], _plain(_read_lenders), spoilt_json, 2000, guided=True
    )
    yield Target("mcp", "MCP messages", _mcp_seeds, _talking_mcp, spoilt_json, 2000, 60)
    yield Target("settings", "settings", lambda: [_SETTINGS], _plain(_read_settings), spoilt_text, 2000, guided=True)
    yield Target("profile", "settings", lambda: [_PROFILE], _plain(_read_profile), spoilt_text, 2000, guided=True)
    areas = [json.dumps(one).encode() for one in _AREAS]
    yield Target("area", "areas", lambda: areas, _plain(_read_area), spoilt_json, 2000, guided=True)
    yield Target("package", "evidence", _package_seeds, _plain(_read_package), _spoilt_package, 2000)
    yield Target("plugin", "plug-ins", lambda: [_PLUGIN], _naming_parts, spoilt_text, 1000)
    yield Target("http", "HTTP requests", _http_seeds, _talking_http, _spoilt_request, 3000, 20)
    yield Target("model-reply", "replies", lambda: _REPLIES, _plain(_read_reply), spoilt_text, 5000, guided=True)
    yield Target("map-reply", "replies", lambda: _MAP_REPLIES, _asking_maps, spoilt_json, 1000)


TARGETS: dict[str, Target] = {target.name: target for target in _targets()}
