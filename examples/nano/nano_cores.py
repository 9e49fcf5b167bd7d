"""Which processors the programs of `examples/nano/nano_pipeline.py` run on."""

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess


def cores() -> list[int]:
    """All that there are, twins side by side: who learns shares no physical core with who teaches."""
    return sorted(os.sched_getaffinity(0), key=twins) if hasattr(os, "sched_getaffinity") else []


def twins(core: int) -> tuple[int, int]:
    """The first logical core of the physical one that a core is part of, and its own number."""
    try:
        first = Path(f"/sys/devices/system/cpu/cpu{core}/topology/thread_siblings_list").read_text()
        return int(re.split(r"[-,]", first.strip())[0]), core
    except (OSError, ValueError):
        return core, core


def pin(program: "subprocess.Popen[bytes]", to: Sequence[int]) -> None:
    """Let all threads of a program run on some cores only; on any where none are named."""
    with suppress(OSError):  # it may end meanwhile
        for task in Path(f"/proc/{program.pid}/task").iterdir() if to else ():
            with suppress(OSError):
                os.sched_setaffinity(int(task.name), to)
