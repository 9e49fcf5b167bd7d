"""Open a data set by its name and the path of its files."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from geosleuth.geo.gcj02 import Datum, from_gcj02
from geosleuth.support import plugins
from geosleuth.support.errors import BadInput, BrokenPlugin

from .cards import CARDS
from .dataset import Card, DataSet, Item, SetKind
from .flickr_sets import (
    open_flickr,
    open_geocomp,
    open_geoglobe,
    open_imageo,
    open_imageo2_part,
    open_mp16_pro,
    open_osv5m,
)
from .hugging_face import METADATA_NAMES, open_geobench, open_geoseek, open_hub, open_mapbench, parquet_files
from .photo_folders import open_exif, open_llmgeo
from .street_view_text import open_street_view_text
from .table_rows import TABLE_ENDINGS, open_table

Opener = Callable[[Path, Path | None], DataSet]

_OPENERS: dict[str, Opener] = {
    "im2gps3k": partial(open_flickr, "im2gps3k"),
    "yfcc4k": partial(open_flickr, "yfcc4k"),
    "yfcc26k": partial(open_flickr, "yfcc26k"),
    "osv5m": partial(open_osv5m, "test"),
    "osv5m-test": partial(open_osv5m, "test"),
    "osv5m-train": partial(open_osv5m, "train"),
    "geobench": open_geobench,
    "imageo1": partial(open_imageo, 1),
    "imageo2": partial(open_imageo, 2),
    "imageo2-train": partial(open_imageo2_part, "train"),
    "imageo2-test": partial(open_imageo2_part, "test"),
    "imageo3": partial(open_imageo, 3),
    "mapbench": partial(open_mapbench, "test"),
    "mapbench-test": partial(open_mapbench, "test"),
    "mapbench-train": partial(open_mapbench, "train"),
    "geoseek-val": partial(open_geoseek, "val"),
    "geoseek-loc": partial(open_geoseek, "loc"),
    "mp16-pro": open_mp16_pro,
    "geocomp": open_geocomp,
    "geoglobe": open_geoglobe,
    "street-view-text": open_street_view_text,
    "llmgeo": open_llmgeo,
    "table": open_table,
    "exif": open_exif,
    "hf": open_hub,
}


def open_set(spec: str) -> DataSet:
    """Open a data set: ``NAME:PATH``, ``PACKAGE:NAME:PATH`` for one of a plug-in, or a path, whose kind is detected.

    ``NAME:PATH::PHOTOS`` says where the photos are, if not with the table. ``NAME@gcj02:PATH`` says that the points are
    in GCJ-02: they are turned into WGS-84, as all points are. Nothing is downloaded, and only the first rows are read.

    Raises:
        BadInput: no such set or path, or the files there are not the set's; the message says what was looked for.
        MissingExtra: Parquet files need pyarrow.
        BrokenPlugin: it belongs to a plug-in that can't be loaded.
    """
    added = _find_set_plugin(spec)
    if added is not None:
        return _in_wgs84(_open_plugin_set(added, spec.split(":", 2)[2:]))
    spec, datum = _without_datum(spec)
    name, path, photos = _split_spec(spec)
    if not path.exists():
        if name is None and spec.strip().lower() in _OPENERS:
            raise BadInput(f"{spec}: say where its files are: {spec}:PATH; {CARDS[spec.strip().lower()].get}")
        raise BadInput(f"{path}: no such file or folder; nothing is downloaded: {_hint(name)}")
    if photos is not None and not photos.is_dir():
        raise BadInput(f"{photos}: no such folder of photos")
    opened = _OPENERS[name or _guess(path)](path, photos)
    return _in_wgs84(opened if datum is None else replace(opened, card=replace(opened.card, datum=datum)))


def _without_datum(spec: str) -> tuple[str, Datum | None]:
    """Split the datum off a spec such as ``mapbench@gcj02:PATH``."""
    name, colon, rest = spec.partition(":")
    name, at, said = name.partition("@")
    if not colon or not at or name.strip().lower() not in _OPENERS:
        return spec, None
    word = said.strip().lower().replace("-", "")
    datum = next((arg for arg in get_args(Datum) if arg == word), None)
    if datum is None:
        raise BadInput(f"{said[:40]!r} is no datum; write {name}@gcj02:PATH or {name}@wgs84:PATH")
    return f"{name}:{rest}", datum


def _in_wgs84(data: DataSet) -> DataSet:
    """Return the set with its points in WGS-84; each item keeps its original datum in the field ``datum``."""
    if data.card.datum != "gcj02":
        return data

    def convert(item: Item) -> Item:
        truth = replace(item.truth, point=from_gcj02(item.truth.point))
        return replace(item, truth=truth, fields={**item.fields, "datum": "gcj02"})

    return data.map_items(convert, data.card)


def set_kind(plugin: plugins.Plugin) -> SetKind:
    """Load a kind of data set of a plug-in; its card is named ``PACKAGE:NAME``.

    Raises:
        BrokenPlugin: it can't be loaded.
    """

    def check(given: Any) -> SetKind:
        if not isinstance(given, SetKind):
            raise TypeError(f"it is a {type(given).__name__}, not a SetKind")
        return replace(given, card=replace(given.card, name=plugin.id))

    return plugin.load(check)


def cards() -> tuple[dict[str, Card], tuple[BrokenPlugin, ...]]:
    """Return the cards of all named sets, including plug-ins', and the plug-ins that can't be loaded."""
    found, broken = dict(CARDS), []
    for plugin in plugins.list_installed("datasets"):
        try:
            found[plugin.id] = set_kind(plugin).card
        except BrokenPlugin as error:
            broken.append(error)
    return found, tuple(broken)


def _find_set_plugin(spec: str) -> plugins.Plugin | None:
    return plugins.find("datasets", ":".join(spec.split(":", 2)[:2]))


def _open_plugin_set(plugin: plugins.Plugin, rest: list[str]) -> DataSet:
    kind = set_kind(plugin)
    where, _, photos = (rest[0] if rest else "").partition("::")
    if not where.strip():
        raise BadInput(f"{plugin.id}: say where its files are: {plugin.id}:PATH; {kind.card.get}")
    path, folder = Path(where).expanduser(), Path(photos).expanduser() if photos else None
    if not path.exists():
        raise BadInput(f"{path}: no such file or folder; nothing is downloaded: {kind.card.get}")
    if folder is not None and not folder.is_dir():
        raise BadInput(f"{folder}: no such folder of photos")
    return replace(kind.open(path, folder), card=kind.card)


def _split_spec(spec: str) -> tuple[str | None, Path, Path | None]:
    name, colon, rest = spec.partition(":")
    known = name.strip().lower() if colon and not rest.startswith(":") else None
    if known is not None and known not in _OPENERS:
        # A path may contain a colon; an existing path takes precedence.
        if not Path(spec.partition("::")[0]).exists() and "/" not in name:
            known = ", ".join((*_OPENERS, *plugins.ids("datasets")))
            raise BadInput(f"unknown data set {name[:40]!r}; choose from {known}, or give a path")
        known = None
    where, _, photos = (rest if known is not None else spec).partition("::")
    if not where.strip() or "\0" in spec:
        raise BadInput(f"{spec[:80]!r}: give NAME:PATH, such as im2gps3k:data/im2gps3k, or a path")
    return known, Path(where).expanduser(), Path(photos).expanduser() if photos else None


def _hint(name: str | None) -> str:
    return "see `geosleuth dataset list`" if name is None else CARDS[name].get


def _guess(path: Path) -> str:
    if path.is_file():
        if path.suffix.lower() in TABLE_ENDINGS:
            return "table"
        if path.suffix.lower() == ".parquet":
            return "hf"
        raise BadInput(f"{path}: give a folder, a table ({', '.join(TABLE_ENDINGS)}) or a .parquet file")
    if any((path / name).is_file() for name in METADATA_NAMES) or parquet_files(path):
        return "hf"
    return "exif"
