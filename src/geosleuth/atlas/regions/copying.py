"""Add a region file that was made elsewhere: it is checked and copied."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Final

from geosleuth.atlas.folders import open_readonly
from geosleuth.support.errors import BadFile

from .region_file import (
    APPLICATION_ID,
    FORMAT_VERSION,
    SUFFIX,
    Progress,
    check_readable,
    new_database,
    no_progress,
    region_name,
)
from .region_store import RegionInfo, RegionStore

_PAGES_PER_STEP: Final = 10_000


def copy_region(path: Path, name: str | None = None, *, folder: Path, progress: Progress | None = None) -> RegionInfo:
    """Check and copy a region file; it replaces a region of the same name.

    Raises:
        BadInput: the file is not a region file, or damaged. No region has been changed.
    """
    check_readable(path)
    region = region_name(name or path.name.removesuffix(SUFFIX), path)
    report = progress or no_progress
    try:
        with closing(open_readonly(path)) as old:
            meta: dict[str, str] = {}
            if old.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
                meta = dict(old.execute("SELECT key, value FROM meta"))
            if meta.get("format") != FORMAT_VERSION or "kinds" in meta:
                raise BadFile(path, "is not a region file that this version can read", "add its extract again")
            RegionStore(path.parent).info(path.name.removesuffix(SUFFIX))
            report("checking", 0, 1)
            (result,) = old.execute("PRAGMA quick_check(1)").fetchone()
            if result != "ok":
                raise sqlite3.DatabaseError(result)
            with new_database(folder, region) as new:
                old.backup(
                    new, pages=_PAGES_PER_STEP, progress=lambda _, left, total: report("copying", total - left, total)
                )
                new.execute("UPDATE meta SET value = ? WHERE key = 'name'", (region,))
    except sqlite3.DatabaseError as error:
        why = " ".join(str(error).split())[:200]
        raise BadFile(path, f"is damaged ({why})", "add its extract again") from error
    return RegionStore(folder).info(region)
