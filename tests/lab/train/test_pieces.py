"""Folders in pieces: put together they are the same, or nothing is there."""

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from geosleuth.lab.train.run_folder import MANIFEST, join, split
from geosleuth.support.errors import BadInput

CONTENT = {
    "model.safetensors": bytes(range(256)) * 40,
    "empty": b"",
    "deep/er/state.json": b"{}",
    "e\u0301": b"x" * 100,
}


def filled(folder: Path, content: dict[str, bytes] = CONTENT) -> Path:
    for name, data in content.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_comes_back_as_it_was(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    cut = split(filled(tmp_path / "a"), tmp_path / "cut", most_bytes=1000, progress=lambda *now: told.append(now))
    assert (cut.files, cut.pieces, cut.size) == (4, 11 + 1 + 1, 10_342)
    assert told[-1] == (10_342, 10_342)
    pieces = list((tmp_path / "cut").glob("*.piece"))
    assert len(pieces) == cut.pieces
    assert max(path.stat().st_size for path in pieces) == 1000
    joined = join(tmp_path / "cut", tmp_path / "b")
    assert (joined.files, joined.pieces, joined.size) == (4, 13, 10_342)
    assert content_of(tmp_path / "b") == CONTENT
    assert content_of(tmp_path / "a") == CONTENT


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.binary(max_size=60), min_size=1, max_size=4), st.integers(1, 70))
def test_any_content_and_any_size(tmp_path_factory: pytest.TempPathFactory, data: list[bytes], most: int) -> None:
    home = tmp_path_factory.mktemp("pieces")
    content = {f"f{number}": one for number, one in enumerate(data)}
    split(filled(home / "a", content), home / "cut", most_bytes=most)
    join(home / "cut", home / "b")
    assert content_of(home / "b") == content


def damaged(folder: Path) -> None:
    data = bytearray((folder / "00003.piece").read_bytes())
    data[17] ^= 1
    (folder / "00003.piece").write_bytes(data)


def cut_short(folder: Path) -> None:
    (folder / "00003.piece").write_bytes((folder / "00003.piece").read_bytes()[:-1])


def grown(folder: Path) -> None:
    (folder / "00003.piece").write_bytes((folder / "00003.piece").read_bytes() + b"!")


def missing(folder: Path) -> None:
    (folder / "00003.piece").unlink()


def swapped(folder: Path) -> None:
    told = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
    pieces = next(file for file in told["files"] if file["path"] == "model.safetensors")["pieces"]
    pieces[1], pieces[-1] = pieces[-1], pieces[1]
    (folder / MANIFEST).write_text(json.dumps(told), encoding="utf-8")


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        (damaged, "00003.piece: damaged"),
        (cut_short, "00003.piece: damaged"),
        (grown, "00003.piece: damaged"),
        (missing, "00003.piece: missing"),
        (swapped, "do not belong together"),
    ],
)
def test_a_harmed_piece_is_named_and_nothing_is_left(tmp_path: Path, harm: object, words: str) -> None:
    split(filled(tmp_path / "a"), tmp_path / "cut", most_bytes=1000)
    assert callable(harm)
    harm(tmp_path / "cut")
    with pytest.raises(BadInput, match=words):
        join(tmp_path / "cut", tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "cut"]


@pytest.mark.parametrize("name", ["../evil", "/etc/evil", "a/../../evil", "..", "a\\..\\evil"])
def test_pieces_name_no_file_outside(tmp_path: Path, name: str) -> None:
    split(filled(tmp_path / "a"), tmp_path / "cut")
    told = json.loads((tmp_path / "cut" / MANIFEST).read_text(encoding="utf-8"))
    told["files"][0]["path"] = name
    (tmp_path / "cut" / MANIFEST).write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(BadInput, match="outside of its folder"):
        join(tmp_path / "cut", tmp_path / "b")


def test_what_cannot_be_cut_or_joined_is_told(tmp_path: Path) -> None:
    filled(tmp_path / "a")
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="holds no files"):
        split(tmp_path / "empty", tmp_path / "x")
    with pytest.raises(BadInput, match="not a folder"):
        split(tmp_path / "nowhere", tmp_path / "x")
    with pytest.raises(BadInput, match="already exists"):
        split(tmp_path / "a", tmp_path / "empty")
    with pytest.raises(BadInput, match="geosleuth train pieces split"):
        join(tmp_path / "a", tmp_path / "x")
    (tmp_path / "a" / "link").symlink_to("empty")
    with pytest.raises(BadInput, match="not a plain file"):
        split(tmp_path / "a", tmp_path / "x")
    (tmp_path / "empty" / MANIFEST).write_text("[" * 200_000)
    with pytest.raises(BadInput, match="nested too deeply"):
        join(tmp_path / "empty", tmp_path / "x")
    (tmp_path / "empty" / MANIFEST).write_text('{"format": "geosleuth-pieces", "version": 1, "files": [3]}')
    with pytest.raises(BadInput, match="damaged"):
        join(tmp_path / "empty", tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_pieces_do_not_go_into_what_is_cut(tmp_path: Path) -> None:
    folder = filled(tmp_path / "a")
    for out in (folder, folder / "inside", folder / "deep" / ".." / "inside"):
        with pytest.raises(BadInput, match="give a folder outside of it"):
            split(folder, out)
    assert content_of(folder) == CONTENT
    assert split(folder, tmp_path / "a-cut").files == len(CONTENT)
