"""The disk that cases take: a quota, and a wipe."""

import json
from pathlib import Path

from in_process import whole_command
from serving import photo_bytes, recording, served_here

PHOTO = photo_bytes("Rue Grimaldi")


def test_above_the_quota_nothing_more_is_taken_in(home: Path, tmp_path: Path) -> None:
    assert home.is_dir()
    model = f"replay:{recording(tmp_path / 'recorded.jsonl')}"
    with served_here(tmp_path / "cases") as server:
        case = server.case(PHOTO)
        used = server.client.get("/api/disk").json()
        assert used["quota_mb"] is None
        assert used["bytes"] > len(PHOTO)
        padding = tmp_path / "cases" / "cases" / case / "photos" / "padding"
        padding.write_bytes(bytes(1_100_000))
        assert server.client.put("/api/settings", json={"quota_mb": 1}).json()["quota_mb"] == 1
        for refused in (
            server.upload(case, PHOTO),
            server.client.post(f"/api/cases/{case}/runs", json={"model": model}),
            server.locate(PHOTO, model=model),
        ):
            assert (refused.status_code, refused.json()["error"]["kind"]) == (429, "full")
            assert "MB of the 1 MB" in refused.json()["error"]["message"]
        assert len(server.client.get("/api/cases").json()["cases"]) == 1, "nothing is deleted, and nothing is left"
        assert server.client.put("/api/settings", json={"quota_mb": 100}).status_code == 200
        assert server.upload(case, PHOTO).status_code == 201
        assert server.client.put("/api/settings", json={"quota_mb": 0}).status_code == 422


def test_a_wipe_leaves_settings_and_no_case(home: Path, tmp_path: Path) -> None:
    assert home.is_dir()
    model = f"replay:{recording(tmp_path / 'recorded.jsonl', 200)}"
    with served_here(tmp_path / "cases") as server:
        server.client.put("/api/settings", json={"retention_days": 9})
        for number in range(3):
            server.start(server.case(PHOTO, title=f"quixotry {number}"), model=model)
        assert server.client.post("/api/wipe", json={}).status_code == 422
        assert server.client.post("/api/wipe", json={"confirm": "yes"}).status_code == 422
        assert server.client.post("/api/wipe", json={"confirm": "delete all cases"}).json() == {"cases": 3}
        assert server.client.get("/api/cases").json()["cases"] == []
        assert server.client.get("/api/settings").json()["retention_days"] == 9
        assert list((tmp_path / "cases" / "cases").iterdir()) == []
        busy = whole_command("wipe", "--home", tmp_path / "cases", "--yes")
        assert (busy.returncode, "in use by a geosleuth server" in busy.stderr) == (2, True)
    left = [path for path in (tmp_path / "cases").rglob("*") if path.is_file() and b"quixotry" in path.read_bytes()]
    assert left == []


def test_the_command_wipes_after_a_yes(home: Path, tmp_path: Path) -> None:
    assert home.is_dir()
    folder = tmp_path / "cases"
    nothing = whole_command("wipe", "--home", folder, "--json")
    assert (nothing.returncode, json.loads(nothing.stdout)) == (0, {"deleted": None, "bytes": 0})
    assert "holds no cases" in nothing.stderr
    with served_here(folder) as server:
        server.case(PHOTO)
    (folder / "mine.txt").write_text("not a case")
    asked = whole_command("wipe", "--home", folder)
    assert (asked.returncode, "add --yes" in asked.stderr) == (2, True)
    assert (folder / "cases").is_dir()
    done = whole_command("wipe", "--home", folder, "--yes", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["deleted"] == str(folder)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
