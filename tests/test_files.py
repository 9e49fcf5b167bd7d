"""Files are written whole or not at all, and settings read within limits."""

import json
import os
import re
import stat
from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from geosleuth.support.errors import BadInput
from geosleuth.support.files import plain_yaml_values, read_json, read_toml, write_text_atomically


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("text", ["", "plain\n", "Zürich\r\n東京\u2028\n", "x" * 3_000_000])
def test_the_text_arrives_as_it_is(tmp_path: Path, text: str) -> None:
    path = tmp_path / "out.html"
    write_text_atomically(path, text)
    assert path.read_bytes() == text.encode()
    assert names(tmp_path) == {"out.html"}


def test_an_older_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    path.write_text("old")
    write_text_atomically(path, "new")
    assert path.read_text() == "new"


@pytest.mark.parametrize("failure", [OSError(28, "No space left on device"), KeyboardInterrupt(), MemoryError()])
def test_an_interrupted_write_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    path = tmp_path / "out.json"
    path.write_text("old")

    def fail(_descriptor: int) -> None:
        raise failure

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(BadInput if isinstance(failure, OSError) else type(failure)) as caught:
        write_text_atomically(path, "new")
    assert path.read_text() == "old"
    assert names(tmp_path) == {"out.json"}
    assert not isinstance(failure, OSError) or str(caught.value) == f"{path}: can't be written: No space left on device"


def test_half_a_surrogate_pair_is_escaped_as_json_reads_it(tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    write_text_atomically(path, json.dumps(["\ud83d", "é"], ensure_ascii=False))
    assert json.loads(path.read_text(encoding="utf-8")) == ["\ud83d", "é"]


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_has_the_mode_that_open_would_give(tmp_path: Path, mask: int) -> None:
    before = os.umask(mask)
    try:
        write_text_atomically(tmp_path / "new", "x")
    finally:
        assert os.umask(before) == mask
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o666 & ~mask


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_replaced_file_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "old"
    path.write_text("old")
    path.chmod(mode)
    write_text_atomically(path, "new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


SETTINGS = {
    "brackets": (b"model = " + b"[" * 5_000, "is nested too deeply"),
    "dotted": (b".".join([b"a"] * 30_000) + b" = 1", "line 1: is nested too deeply"),
    "inline": (b"model = {" + b".".join([b"a"] * 30_000) + b" = 1}", "line 1: is nested too deeply"),
    "syntax": (b"model = 'a'\n\nturns 3\n", "line 3: can't be read"),
    "cut": (b"model = 'a'\nturns = ", "line 2: can't be read"),
    "bytes": (b"model = 'a'\nbase_url = '\xff'", "line 2: is not UTF-8 text"),
    "large": (b"# nothing\n" * 20_000, "larger than 64 KiB"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_cannot_be_read_are_refused_soon(tmp_path: Path, name: str) -> None:
    content, said = SETTINGS[name]
    path = tmp_path / "config.toml"
    path.write_bytes(content)
    began = process_time()
    with pytest.raises(BadInput, match=re.escape(said)) as refused:
        read_toml(path)
    assert process_time() - began < 1
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)


def test_a_yaml_file_of_many_keys_is_refused_soon(tmp_path: Path) -> None:
    path = tmp_path / "recipe.yaml"
    path.write_text("".join(f"k{at}: 1\n" for at in range(20_000)))
    began = process_time()
    with pytest.raises(BadInput, match=r"line 2500: more than 5,000 names and values"):
        plain_yaml_values(path)
    assert process_time() - began < 3


@pytest.mark.parametrize("read", [read_toml, read_json, plain_yaml_values])
def test_pipes_devices_and_folders_are_not_read(tmp_path: Path, read: Callable[[Path], object]) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(BadInput, match="is not a regular file"):
            read(path)
    with pytest.raises((BadInput, IsADirectoryError), match="directory"):
        read(tmp_path)


def test_deep_json_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_bytes(b"[" * 200_000)
    with pytest.raises(BadInput, match="nested too deeply"):
        read_json(path)
    path.write_bytes(b" " * 1_025)
    with pytest.raises(BadInput, match="larger than 1 KiB"):
        read_json(path, 1_024)


def test_a_missing_folder_is_the_users_to_mend(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"out\.csv: can't be written: No such file or directory"):
        write_text_atomically(tmp_path / "missing" / "out.csv", "x")


def test_a_folder_in_the_way_stays(tmp_path: Path) -> None:
    (tmp_path / "out.csv").mkdir()
    with pytest.raises(BadInput, match="not a plain file"):
        write_text_atomically(tmp_path / "out.csv", "x")
    assert names(tmp_path) == {"out.csv"}


def test_a_pipe_or_device_is_never_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(BadInput, match="not a plain file"):
        write_text_atomically(pipe, "x")
    assert pipe.is_fifo()


def test_a_name_too_long_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="too long"):
        write_text_atomically(tmp_path / ("x" * 300), "x")
    assert names(tmp_path) == set()
