"""A service whose disk gets full: it says so in one line, and every run comes to an end once there is room."""

from pathlib import Path

import pytest

from bench_mounts import in_own_mounts
from geosleuth.server import CaseService, RunRequest
from services import case_with_photo, ended, open_service, recording

pytestmark = pytest.mark.usefixtures("atlas_home")
CHILD = Path(__file__).parents[1] / "support" / "disk_child.py"
FULL = "DiskFull: the server's disk is full; free some space and try again"


@pytest.mark.parametrize("how", ["by itself", pytest.param("by cancel", marks=pytest.mark.slow)])
def test_a_run_that_meets_a_full_disk_ends_once_there_is_room(tmp_path: Path, how: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    model = recording(tmp_path, looks=40)
    words = [disk, CHILD, model, *(["cancel"] if how == "by cancel" else [])]
    script = 'mount -t tmpfs -o size=2m none "$1"; at=$1; shift; child=$1; shift; exec $PYTHON "$child" "$at/home" "$@"'
    full, refusals, freed, again = in_own_mounts(script, *words)
    assert full["state"] == "running"
    assert {refusals[one] for one in ("cancel", "result", "go_on", "photo")} == {FULL}
    assert freed["state"] in ("failed", "done")
    assert str(disk) not in (freed["trouble"] or "")
    assert freed["result"] == "" or freed["result"].startswith("WrongState: this run has done nothing yet")
    assert again["state"] == "done"


@pytest.mark.slow
def test_a_row_that_nobody_works_on_can_be_settled(tmp_path: Path) -> None:
    async def work(service: CaseService) -> None:
        case = await case_with_photo(service)
        run = await service.start(case, RunRequest(model=recording(tmp_path)))
        await ended(service, run.id)
        await service._store.set_state(run.id, "running")
        assert (await service.cancel(run.id)).state == "interrupted"
        await service._store.set_state(run.id, "running")
        assert (await service.view(run.id))["answer"]["place"]
        assert (await service.run(run.id)).state == "interrupted"

    open_service(tmp_path / "service", work)
