"""What is worked out once and kept on disk: the same afterwards, made anew where it can't be read."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from geosleuth.atlas import folders
from geosleuth.atlas.array_file import pack_arrays
from geosleuth.atlas.folders import KeptFiles
from geosleuth.support.errors import DataFault


def test_kept_once_and_made_anew_where_it_can_not_be_read(tmp_path: Path) -> None:
    made: list[int] = []

    def make() -> bytes:
        made.append(1)
        return b"7"

    folder = KeptFiles(tmp_path, "figures-2")
    (tmp_path / "figures-1").mkdir()
    (tmp_path / "others-1").mkdir()
    assert [folder.load("a", make, int) for _ in range(3)] == [7, 7, 7]
    assert len(made) == 1
    (tmp_path / "figures-2" / "a").write_bytes(b"seven")
    assert folder.load("a", make, int) == 7
    assert (tmp_path / "figures-2" / "a").read_bytes() == b"7"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figures-2", "others-1"]


def test_arrays_come_back_as_they_were(tmp_path: Path) -> None:
    arrays = [np.arange(7, dtype=np.uint16), np.array(["de", "zh"]), np.zeros((0, 3)), np.array([[1.5, -2.0]])]
    folder = KeptFiles(tmp_path, "figures-1")
    for _ in range(2):
        for found, array in zip(folder.arrays("some", lambda: arrays), arrays, strict=True):
            assert found.dtype == array.dtype
            assert np.array_equal(found, array)
    (tmp_path / "figures-1" / "some").write_bytes(b"\x00" * 20)
    assert len(folder.arrays("some", lambda: arrays)) == 4


def test_a_folder_that_can_not_be_written_is_no_trouble(tmp_path: Path) -> None:
    (tmp_path / "in-the-way").write_text("")
    folder = KeptFiles(tmp_path / "in-the-way", "figures-2")
    assert folder.load("a", lambda: b"7", int) == 7


def test_packaged_arrays_that_are_damaged_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GEOSLEUTH_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(folders, "files", lambda _package: tmp_path)
    (tmp_path / "data").mkdir()
    whole = gzip.compress(pack_arrays([np.arange(9)]))
    for damaged in (b"", b"not gzip", whole[:-9], gzip.compress(b""), gzip.compress(b"\x40" + bytes(90))):
        (tmp_path / "data" / "some.bin.gz").write_bytes(damaged)
        with pytest.raises(DataFault, match="install geosleuth again"):
            folders.load_packaged_arrays("some", "some.bin.gz")
    (tmp_path / "data" / "some.bin.gz").write_bytes(whole)
    assert folders.load_packaged_arrays("some", "some.bin.gz")[0].tolist() == list(range(9))
    with pytest.raises(DataFault, match="can't be read"):
        folders.load_packaged_arrays("some", "none.bin.gz")
