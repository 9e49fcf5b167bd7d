"""Open a data set by its name and the path of its files."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from geosleuth import plugins
from geosleuth.errors import BadInput, BrokenPlugin

from .cards import CARDS
from .dataset import Card, DataSet, SetKind
from .flickr_sets import open_geoglobe, open_im2gps3k, open_imageo, open_osv5m, open_yfcc4k, open_yfcc26k
from .hugging_face import METADATA_NAMES, open_geobench, open_geoseek_val, open_hub, open_mapbench, parquet_files
from .photo_folders import open_exif, open_llmgeo
from .street_view_text import open_street_view_text
from .table_rows import TABLE_ENDINGS, open_table

Opener = Callable[[Path, Path | None], DataSet]

_OPENERS: dict[str, Opener] = {
    "im2gps3k": open_im2gps3k,
    "yfcc4k": open_yfcc4k,
    "yfcc26k": open_yfcc26k,
    "osv5m": open_osv5m,
    "geobench": open_geobench,
    "imageo1": partial(open_imageo, 1),
    "imageo2": partial(open_imageo, 2),
    "imageo3": partial(open_imageo, 3),
    "mapbench": open_mapbench,
    "geoseek-val": open_geoseek_val,
    "geoglobe": open_geoglobe,
    "street-view-text": open_street_view_text,
    "llmgeo": open_llmgeo,
    "table": open_table,
    "exif": open_exif,
    "hf": open_hub,
}


def open_set(spec: str) -> DataSet:
    """Open a data set: ``NAME:PATH``, ``PACKAGE:NAME:PATH`` for one of a plug-in, or a path, whose kind is detected.

    ``NAME:PATH::PHOTOS`` says where the photos are, if not with the table. Nothing is downloaded, and only the first
    rows are read.

    Raises:
        BadInput: no such set or path, or the files there are not the set's; the message says what was looked for.
        MissingExtra: Parquet files need pyarrow.
        BrokenPlugin: it belongs to a plug-in that can't be loaded.
    """
    added = _plugin_in(spec)
    if added is not None:
        return _opened(added, spec.split(":", 2)[2:])
    name, path, photos = _taken_apart(spec)
    if not path.exists():
        if name is None and spec.strip().lower() in _OPENERS:
            raise BadInput(f"{spec}: say where its files are: {spec}:PATH; {CARDS[spec.strip().lower()].get}")
        raise BadInput(f"{path}: no such file or folder; nothing is downloaded: {_hint(name)}")
    if photos is not None and not photos.is_dir():
        raise BadInput(f"{photos}: no such folder of photos")
    return _OPENERS[name or _guess(path)](path, photos)


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
    for plugin in plugins.installed("datasets"):
        try:
            found[plugin.id] = set_kind(plugin).card
        except BrokenPlugin as error:
            broken.append(error)
    return found, tuple(broken)


def _plugin_in(spec: str) -> plugins.Plugin | None:
    return plugins.find("datasets", ":".join(spec.split(":", 2)[:2]))


def _opened(plugin: plugins.Plugin, rest: list[str]) -> DataSet:
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


def _taken_apart(spec: str) -> tuple[str | None, Path, Path | None]:
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
