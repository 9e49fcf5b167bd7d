"""An import that is killed leaves nothing that anyone can see, and the next one completes."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from attack_targets import TARGETS
from bench_mounts import in_own_mounts
from geosleuth.atlas.regions import Regions, RegionStore, import_osm, region_file
from geosleuth.support.errors import BadInput

SCRIPT = """
import sys
from pathlib import Path
from geosleuth.atlas.regions import import_osm
print("ready", flush=True)
import_osm(Path(sys.argv[1]), "monaco", folder=Path(sys.argv[2]))
"""


def _start(source: Path, folder: Path) -> "subprocess.Popen[str]":
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, source, folder], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def _finish(process: "subprocess.Popen[str]", *, kill: bool) -> int:
    if kill:
        process.kill()
    process.communicate(timeout=120)
    return process.returncode


@pytest.mark.slow
def test_killed_at_ten_random_moments(tmp_path: Path, monaco_pbf: Path) -> None:
    begin = time.monotonic()
    import_osm(monaco_pbf, "monaco", folder=tmp_path / "timing")
    seconds = time.monotonic() - begin

    folder = tmp_path / "atlas"
    chance = random.Random(20_261)
    killed = 0
    for _ in range(10):
        process = _start(monaco_pbf, folder)
        time.sleep(chance.uniform(0, seconds))
        killed += _finish(process, kill=True) != 0
        store = RegionStore(folder)
        # Either the import was complete before the blow fell, or there is no region at all; never half of one.
        for info in store.list():
            assert info.features > 3000
            assert Regions(folder).crossing("Rue Grimaldi", "Rue Suffren Reymond")
            store.remove("monaco")
        assert store.names() == []
        assert not store.list_damaged()
    assert killed >= 3
    import_osm(monaco_pbf, "monaco", folder=folder)
    assert [path.name for path in folder.iterdir()] == ["monaco.region.sqlite"]
    assert Regions(folder).search_pois("Café de Paris")


def test_a_killed_import_over_an_older_region_leaves_that_one(tmp_path: Path, monaco_pbf: Path) -> None:
    info = import_osm(monaco_pbf, "monaco", folder=tmp_path)
    process = _start(monaco_pbf, tmp_path)
    while not list(tmp_path.glob(".*.partial")):
        assert process.poll() is None
        time.sleep(0.005)
    assert _finish(process, kill=True) != 0
    assert RegionStore(tmp_path).info("monaco") == info


@pytest.mark.slow
def test_an_import_spares_the_unfinished_file_of_another(tmp_path: Path, monaco_pbf: Path) -> None:
    process = _start(monaco_pbf, tmp_path)
    while not list(tmp_path.glob(".*.partial")):
        assert process.poll() is None
        time.sleep(0.005)
    import_osm(monaco_pbf, "second", folder=tmp_path)
    assert _finish(process, kill=False) == 0
    assert RegionStore(tmp_path).names() == ["monaco", "second"]


@pytest.mark.slow
def test_a_complete_file_is_spared_until_it_has_its_name(
    tmp_path: Path, monaco_pbf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spared: list[bool] = []
    sync = region_file._sync

    def slow_sync(path: Path) -> None:
        if path.suffix == ".partial":
            region_file.clear_abandoned(tmp_path)  # what another import does first
            spared.append(path.exists())
        sync(path)

    monkeypatch.setattr(region_file, "_sync", slow_sync)
    import_osm(monaco_pbf, "monaco", folder=tmp_path)
    assert spared == [True]
    assert [path.name for path in tmp_path.iterdir()] == ["monaco.region.sqlite"]


def test_without_locks_only_old_files_are_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    fresh, old = tmp_path / ".a.1.partial", tmp_path / ".b.2.partial"
    for path in (fresh, old):
        path.write_bytes(b"half")
    two_days_ago = time.time() - 2 * 86_400
    os.utime(old, (two_days_ago, two_days_ago))
    region_file.clear_abandoned(tmp_path)
    assert list(tmp_path.iterdir()) == [fresh]


def test_a_place_that_cannot_be_taken_is_said(tmp_path: Path, monaco_pbf: Path) -> None:
    (tmp_path / "monaco.region.sqlite").mkdir()
    with pytest.raises(BadInput, match="can't be written to"):
        import_osm(monaco_pbf, "monaco", folder=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["monaco.region.sqlite"]


ON_DISKS = """
import json, subprocess, sys
from pathlib import Path
from geosleuth.atlas.regions import import_osm
from geosleuth.support.errors import BadInput

extract, disk = Path(sys.argv[1]), Path(sys.argv[2])
for pages in map(int, sys.argv[3:]):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={4096 * pages}", "none", disk], check=True)
    try:
        import_osm(extract, "town", folder=disk / "regions")
        said = ""
    except BadInput as error:
        said = str(error)
    print(json.dumps([said, [path.name for path in disk.rglob("*")]]))
    subprocess.run(["umount", "-l", disk], check=True)
"""


def test_a_full_disk_is_one_line_at_every_write_and_leaves_nothing(tmp_path: Path) -> None:
    extract = tmp_path / "town.osm.pbf"
    extract.write_bytes(TARGETS["extract-osm.pbf"].seeds()[0])
    disk = tmp_path / "disk"
    disk.mkdir()
    # From too small for the first page to large enough; 57 and 59 pages end in files beside the database.
    told = in_own_mounts('"$PYTHON" -c "$@"', ON_DISKS, extract, disk, 1, 21, 53, 55, 57, 59, 61, 119)
    for said, left in told[:-1]:
        assert "disk is full" in said or "No space left" in said
        assert "\n" not in said
        assert left == []
    assert told[-1] == ["", ["regions", "town.region.sqlite"]]
