"""A process that holds a service, for tests that kill it: starts runs and says on stdout what has come of them.

Arguments: the service's folder, the model, how many runs. Each line it prints is JSON; it never ends by itself.
"""

import asyncio
import json
import sys
from pathlib import Path

from geosleuth.server import CaseService, RunRequest
from services import case_with_photo, ended


def say(**told: object) -> None:
    """One line."""
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


async def main(folder: Path, model: str, count: int) -> None:
    """Start the runs, and say of each when it is done."""
    async with await CaseService.open(folder, workers=2) as service:
        case_id = await case_with_photo(service)
        runs = [await service.start(case_id, RunRequest(model=model)) for _ in range(count)]
        say(started=[run.id for run in runs], workers=service._jobs.pids)

        async def follow(run_id: str) -> None:
            row = await ended(service, run_id)
            say(ended=run_id, state=row.state, result=await service.view(run_id))

        await asyncio.gather(*(follow(run.id) for run in runs))
        say(all=True)
        await asyncio.sleep(600)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
