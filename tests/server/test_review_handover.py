"""A batch for review is opened by the server that is running already; whoever lacks its key can't have one opened."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from in_process import whole_command
from serving import Served, served
from signs import sign_photo


@pytest.fixture
def batch(atlas_home: Path, tmp_path: Path) -> Path:
    assert atlas_home.is_dir()
    folder = tmp_path / "batch"
    (folder / "photos").mkdir(parents=True)
    sign_photo(folder / "photos" / "bakery in town.jpg", "Monaco", "+377 93 15 06 00")
    done = whole_command("locate", folder / "photos", "--offline", "--out", f"{folder / 'run'}/")
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return tmp_path / "cases"


@pytest.fixture
def server(cases: Path, atlas_home: Path) -> Iterator[Served]:
    with served(atlas_home, "--home", str(cases)) as running:
        yield running


def test_files_carry_the_photos_name(batch: Path) -> None:
    (kept,) = batch.glob("*.json")
    (listed,) = json.loads((batch / "review" / "photos.json").read_text())["photos"]
    assert kept.stem == f"bakery-in-town-{listed['sha256'][:16]}"
    assert {path.name for path in batch.glob(f"{kept.stem}.*")} == {
        f"{kept.stem}.{end}" for end in ("json", "jsonl", "html")
    }


def test_a_folder_of_before_goes_on(batch: Path, atlas_home: Path) -> None:
    assert atlas_home.is_dir()
    (kept,) = batch.glob("*.json")
    names = [path.rename(path.with_name(path.name[-16 - len(path.suffix) :])) for path in batch.glob(f"{kept.stem}.*")]
    again = whole_command("locate", batch.parent / "photos", "--offline", "--out", f"{batch}/")
    assert "kept from before" in again.stderr
    assert sorted(names) == sorted(path for path in batch.iterdir() if path.stem == names[0].stem)


def test_a_running_server_opens_the_folder(batch: Path, cases: Path, server: Served) -> None:
    told = cases / "serving.json"
    assert stat.S_IMODE(told.stat().st_mode) == 0o600
    assert server.client.get("/api/review").status_code == 404
    done = whole_command("review", batch, "--home", cases, "--no-open", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"url": f"{server.url}/#/review"}
    shown = server.client.get("/api/review").json()
    assert (shown["name"], shown["total"], shown["photos"][0]["name"]) == ("run", 1, "bakery in town.jpg")
    assert whole_command("review", batch, "--home", cases, "--no-open").returncode == 0, "the same folder once more"
    refused = whole_command("review", cases, "--home", cases, "--no-open")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "no batch of findings" in refused.stderr
    assert server.client.get("/api/review").json()["total"] == 1, "the one before stays"


def test_nobody_else_has_a_folder_opened(batch: Path, server: Served) -> None:
    for key in ("", "x" * 43):
        reply = httpx.post(f"{server.url}/api/review/folder", json={"key": key, "folder": str(batch)})
        assert reply.status_code == 403
    assert server.client.get("/api/review").status_code == 404


def test_what_a_killed_server_left_is_passed_over(batch: Path, cases: Path) -> None:
    from geosleuth.server.handover import open_on_running_server

    cases.mkdir()
    (cases / "serving.json").write_text(json.dumps({"url": "http://127.0.0.1:9", "key": "x"}))
    assert open_on_running_server(cases, batch, None, None) is None
