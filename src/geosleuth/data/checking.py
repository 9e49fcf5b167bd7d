"""Whether a store is whole: every checksum, every row, every picture."""

import io
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from geosleuth.errors import BadInput

from .manifest import SHARDS
from .reading import IMAGES, Store, image_name, read_batches, sha_of
from .rows import sample_of

Progress = Callable[[int], None]


def _nobody(_rows: int) -> None:
    """Nobody listens."""


def check_store(store: Store, progress: Progress = _nobody) -> Iterator[str]:
    """What is wrong with a store, a line each; nothing where it is whole.

    Shards must have the bytes that the manifest counted, rows must be readable as trajectories and say of them what is
    true, keys must be unique, and pictures must be there, be JPEG files of the size that the trajectory says, have the
    content that they are named by, and carry no metadata.
    """
    keys: set[str] = set()
    seen: dict[str, tuple[int, int] | None] = {}
    rows, read_all = 0, True
    for shard in store.manifest.shards:
        trouble = _shard_trouble(store.path / shard.file, shard.sha256)
        if trouble:
            yield f"{shard.file}: {trouble}"
            read_all = False
            continue
        found = 0
        try:
            for row in _rows_of(store, shard.file):
                found, rows = found + 1, rows + 1
                yield from _row_troubles(store, row, keys, seen)
                progress(rows)
        except BadInput as error:
            yield str(error)
            read_all = False
            continue
        if found != shard.rows:
            yield f"{shard.file}: holds {found} rows, and the manifest counts {shard.rows}"
    try:
        for row in store.pending():
            rows += 1
            yield from _row_troubles(store, row, keys, seen)
            progress(rows)
    except BadInput as error:
        yield f"what waits for its shard can't be read: {error}"
        read_all = False
    yield from _rejection_troubles(store, keys)
    yield from _stray_shards(store)
    # Rows that can't be read may be those that a picture belongs to.
    if read_all:
        yield from _stray_pictures(store, seen)


def _shard_trouble(path: Path, digest: str) -> str | None:
    try:
        found = sha_of(path)
    except OSError as error:
        return f"can't be read: {error.strerror or error}"
    return None if found == digest else "was changed after it was written"


def _rows_of(store: Store, file: str) -> Iterator[dict[str, Any]]:
    for batch in read_batches(store.path / file):
        yield from batch


def _row_troubles(
    store: Store, row: Mapping[str, Any], keys: set[str], seen: dict[str, tuple[int, int] | None]
) -> Iterator[str]:
    key = str(row.get("key"))
    if key in keys:
        yield f"{key}: stands there twice"
    keys.add(key)
    try:
        sample = sample_of(row, {})
    except BadInput as error:
        yield str(error)
        return
    run = sample.trajectory
    told = (row["trajectory_id"], row["turns"], row["calls"])
    if told != (run.id, run.spent.turns, run.spent.calls):
        yield f"{key}: its columns don't say what its trajectory says"
    sizes = {image.handle: image.size for image in run.images}
    kept = {image["handle"] for image in row["images"]}
    if missing := sorted(sizes.keys() - kept):
        yield f"{key}: has no picture for {', '.join(missing[:5])}"
    for image in row["images"]:
        digest = image["sha256"]
        if digest not in seen:
            try:
                path = store.path / image_name(digest)
            except BadInput as error:
                yield f"{key}: {error}"
                continue
            seen[digest], trouble = _picture(path, digest)
            if trouble:
                yield f"{image_name(digest)}: {trouble}"
        size = seen[digest]
        if size is not None and size != sizes.get(image["handle"]):
            yield f"{key}: {image['handle']} has {size[0]} x {size[1]} pixels, which is not what its trajectory says"


def _picture(path: Path, digest: str) -> tuple[tuple[int, int] | None, str | None]:
    """The size of a picture and what is wrong with it."""
    from PIL import Image

    try:
        data = path.read_bytes()
    except OSError as error:
        return None, f"can't be read: {error.strerror or error}"
    if sha256(data).hexdigest() != digest:
        return None, "was changed after it was written"
    try:
        with Image.open(io.BytesIO(data), formats=("JPEG",)) as image:
            told = sorted(name for name in ("exif", "xmp", "comment", "photoshop") if image.info.get(name))
            return image.size, f"carries metadata ({', '.join(told)})" if told else None
    except (OSError, ValueError, Image.DecompressionBombError):
        return None, "is no JPEG file"


def _rejection_troubles(store: Store, keys: set[str]) -> Iterator[str]:
    try:
        twice = sorted({one.key for one in store.rejected()} & keys)
    except BadInput as error:
        yield f"what was rejected can't be read: {error}"
        return
    if twice:
        yield f"{twice[0]}: was both kept and rejected"


def _stray_shards(store: Store) -> Iterator[str]:
    shards = {shard.file for shard in store.manifest.shards}
    for path in sorted((store.path / SHARDS).glob("*")):
        if f"{SHARDS}/{path.name}" not in shards:
            yield f"{SHARDS}/{path.name}: nobody counts it; a writer that was killed left it, and the next replaces it"


def _stray_pictures(store: Store, seen: Mapping[str, object]) -> Iterator[str]:
    wanted = {image_name(digest) for digest in seen}
    strays = [
        path for path in sorted((store.path / IMAGES).rglob("*"))
        if path.is_file() and path.relative_to(store.path).as_posix() not in wanted
    ]  # fmt: skip
    if strays:
        yield f"{strays[0].relative_to(store.path).as_posix()}: belongs to no trajectory ({len(strays)} such files)"
