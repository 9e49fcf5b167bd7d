"""A service on a disk that gets full while a run is worked on; prints what it says, a line of JSON each.

Arguments: a folder on a small disk, a recording to play.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from geosleuth.server import CaseService, Feedback, RunRequest
from geosleuth.server import jobs as jobs_module
from geosleuth.support.errors import GeosleuthError
from services import ended, photo_bytes, pieces


def say(**words: Any) -> None:
    print(json.dumps(words), flush=True)


def fill(path: Path) -> None:
    """Leave not a byte free."""
    for size in (65_536, 4096, 1):
        with path.open("ab", buffering=0) as stream:
            try:
                while stream.write(b"\0" * size) == size:
                    pass
            except OSError:
                continue


async def refused(what: Any) -> str:
    try:
        await what
    except GeosleuthError as error:
        return f"{type(error).__name__}: {error}"
    return ""


async def wait_for_ending(service: CaseService, run_id: str) -> None:
    """Wait until the run's process is done with it, whatever its row says."""
    for _ in range(600):
        if run_id not in service._jobs._active and run_id not in service._jobs._waiting:
            return
        await asyncio.sleep(0.1)


async def work(folder: Path, model: str) -> None:
    filler = folder.parent / "filler"
    jobs_module.STORE_RETRY_S = 1000.0 if len(sys.argv) > 3 else 0.5
    async with await CaseService.open(folder) as service:
        case = await service.new_case("A case")
        await service.add_photo(case.id, "wall.jpg", pieces(photo_bytes()))
        run = await service.start(case.id, RunRequest(model=model))
        while (await service.run(run.id)).state != "running":  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        fill(filler)
        await wait_for_ending(service, run.id)
        say(at="full", state=(await service.run(run.id)).state)
        say(
            at="refusals",
            cancel=await refused(service.cancel(run.id)),
            result=await refused(service.result(run.id)),
            go_on=await refused(service.continue_run(run.id, Feedback(hint="Perhaps an island."))),
            photo=await refused(service.add_photo(case.id, "wall.jpg", pieces(photo_bytes(90)))),
        )
        filler.unlink()
        if len(sys.argv) > 3:
            row = await service.cancel(run.id)
        else:
            row = await ended(service, run.id)
        say(at="freed", state=row.state, trouble=row.trouble, result=await refused(service.result(run.id)))
        again = await service.start(case.id, RunRequest(model=model))
        say(at="again", state=(await ended(service, again.id)).state)


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), sys.argv[2]))
