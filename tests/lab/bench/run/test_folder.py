"""The folder of a run: made, continued, refused, locked, read."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bench_child
from bench_child import Options, data_of, make_photos, manifest_of, work
from geosleuth.lab.bench.run import RunFolder
from geosleuth.lab.bench.run.journal import compute_photo_name, new_key, read_file_name
from geosleuth.lab.bench.run.manifest import manifest_from_dict, manifest_to_dict
from geosleuth.support.errors import BadInput


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_photos(tmp_path_factory.mktemp("made") / "photos", 6)


def begin(run: Path, photos: Path, **changes: Any) -> RunFolder:
    return RunFolder.begin(run, manifest_of(data_of(photos), **changes))


def test_names_tell_nothing_and_stay_the_same() -> None:
    first, second = new_key(), new_key()
    name = compute_photo_name(first, "eiffel-tower")
    assert name == compute_photo_name(first, "eiffel-tower")
    assert name != compute_photo_name(second, "eiffel-tower")
    assert name != compute_photo_name(first, "eiffel-towers")
    assert read_file_name(f"{name}.12.jsonl") == (name, 12)
    assert read_file_name(f"{name}.1.try2.jsonl") == (name, 1)
    for other in (f"{name}.jsonl", f"{name}.0.jsonl", f"{name}.1.json", "x.1.jsonl", f"{name}.1.jsonl.part"):
        assert read_file_name(other) is None


def test_a_manifest_comes_back_and_is_checked(photos: Path) -> None:
    manifest = manifest_of(data_of(photos), settings={"model": "replay", "tools": ["zoom"], "budget": {"turns": 3}})
    plain = json.loads(json.dumps(manifest_to_dict(manifest)))
    assert manifest_from_dict(plain) == manifest
    changed = {**plain, "settings": {**plain["settings"], "model": "other"}}
    with pytest.raises(BadInput, match="changed by hand"):
        manifest_from_dict(changed)
    with pytest.raises(BadInput, match="version 2, written by"):
        manifest_from_dict({**plain, "version": 2})
    refused: list[Any] = [[], {}, {"format": "geosleuth-run", "version": 1}, {**plain, "name_key": "xyz"}]
    for bad in refused:
        with pytest.raises(BadInput):
            manifest_from_dict(bad)
    assert plain["name_key"] not in repr(manifest)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "other", "method": "small"}, 'model was "replay", now "other"'),
        ({"model": "replay"}, 'method was "small", now null'),
        ({"model": "replay", "method": "small", "budget": {"turns": 3}}, r'budget was null, now \{"turns": 3\}'),
    ],
)
def test_other_settings_are_named(tmp_path: Path, photos: Path, settings: dict[str, Any], words: str) -> None:
    work(photos, tmp_path / "run", Options(count=2))
    before = (tmp_path / "run" / "journal.jsonl").read_bytes()
    with pytest.raises(BadInput, match=f"begun with other settings: {words}; give the same ones, or another folder"):
        work(photos, tmp_path / "run", Options(count=2, settings=settings))
    assert (tmp_path / "run" / "journal.jsonl").read_bytes() == before


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, photos: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "love.txt").write_text("dear")
    with pytest.raises(BadInput, match=r"holds 'love\.txt' and is not a run; choose a new or an empty folder"):
        begin(tmp_path / "letters", photos)
    with pytest.raises(BadInput, match="not a run"):
        RunFolder.read(tmp_path / "letters")
    (tmp_path / "file").write_text("x")
    with pytest.raises(BadInput, match="can't be created"):
        begin(tmp_path / "file", photos)


def test_what_a_killed_process_was_writing_is_taken_away(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / ".manifest.json.abc.part").write_text("{")
    with begin(run, photos):
        pass
    (run / ".results.jsonl.abc.part").write_text("{")
    with begin(run, photos):
        assert sorted(file.name for file in run.iterdir()) == ["journal.jsonl", "lock", "manifest.json", "trajectories"]


def test_a_journal_that_is_gone_is_not_begun_anew(tmp_path: Path, photos: Path) -> None:
    work(photos, tmp_path / "run")
    (tmp_path / "run" / "journal.jsonl").unlink()
    with pytest.raises(BadInput, match=r"journal\.jsonl: is missing; restore it from a copy"):
        work(photos, tmp_path / "run")


def test_a_journal_of_another_run_is_refused(tmp_path: Path, photos: Path) -> None:
    for name in ("one", "two"):
        begin(tmp_path / name, photos).close()
    (tmp_path / "one" / "journal.jsonl").replace(tmp_path / "two" / "journal.jsonl")
    with pytest.raises(BadInput, match="belongs to another run"):
        begin(tmp_path / "two", photos)
    with pytest.raises(BadInput, match="belongs to another run"):
        RunFolder.read(tmp_path / "two")


def test_a_second_process_is_told_who_works_on_the_run(tmp_path: Path, photos: Path) -> None:
    run = tmp_path / "run"
    holder = subprocess.Popen(
        [sys.executable, bench_child.__file__, str(photos), str(run), json.dumps({"hold": True})],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert holder.stdout is not None
        assert json.loads(holder.stdout.readline()) == {"holds": True}
        with pytest.raises(BadInput, match=rf"another process \({holder.pid} on .+\) works on this run"):
            begin(run, photos)
        with RunFolder.read(run) as folder:
            assert folder.manifest.data.count == 6
    finally:
        holder.communicate("", timeout=30)
    begin(run, photos).close()


def test_without_locks_the_user_is_told_that_nothing_protects_the_run(
    tmp_path: Path, photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", None)
    said: list[str] = []
    with RunFolder.begin(tmp_path / "run", manifest_of(data_of(photos)), said.append):
        assert len(said) == 1
        assert "can't lock files" in said[0]


def test_files_beside_a_trajectory_are_found_and_those_of_others_are_not(tmp_path: Path, photos: Path) -> None:
    name = "ab" * 8
    with begin(tmp_path / "run", photos) as folder:
        own = folder.place(name, 1)
        beside = [own.with_name(f"{name}.1.{what}.jsonl") for what in ("try1", "try2", "verifier")]
        for file in (own, *beside, folder.place(name, 11), folder.place(name, 2), folder.place("ab" + "0" * 14, 1)):
            file.write_text("{}")
        assert folder.list_files(name, 1) == [own, *beside]
    with RunFolder.read(tmp_path / "run") as folder:
        assert folder.list_files(name, 1) == [own, *beside]
        assert folder.list_files(name, 11) == [folder.trajectory(name, 11)]
        assert folder.list_files(name, 3) == []


def test_a_lock_that_leads_elsewhere_is_not_written_over(tmp_path: Path, photos: Path) -> None:
    begin(tmp_path / "run", photos).close()
    letter = tmp_path / "letter.txt"
    letter.write_text("dear all")
    (tmp_path / "run" / "lock").unlink()
    (tmp_path / "run" / "lock").symlink_to(letter)
    with pytest.raises(BadInput, match="can't be written"):
        begin(tmp_path / "run", photos)
    assert letter.read_text() == "dear all"


def test_a_run_that_was_opened_to_be_read_takes_nothing(tmp_path: Path, photos: Path) -> None:
    work(photos, tmp_path / "run")
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "run").rglob("*")}
    with RunFolder.read(tmp_path / "run") as folder:
        told = list(folder.tries())
        assert len(told) == 6
        for one in told:
            assert folder.newest(one.id) == one
            assert folder.list_files(one.image, 1) == [folder.trajectory(one.image, 1)]
        with pytest.raises(ValueError, match="for reading"):
            _ = folder._writing
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "run").rglob("*")} == before
