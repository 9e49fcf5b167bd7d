"""Disks that are full or can't be written, made for real: in a mount namespace of its own, nobody else sees them."""

import json
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

_TRIAL = "mount -t tmpfs -o size=64k none /mnt && cat /proc/mounts >/dev/null"


@cache
def reason_without_mounts() -> str | None:
    """Return why no small disk can be mounted here; None where it can."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return "unshare is not installed"
    tried = subprocess.run([unshare, "-rm", "sh", "-c", _TRIAL], capture_output=True, check=False, text=True)
    return None if tried.returncode == 0 else f"no mount namespaces here: {tried.stderr.strip()[:100]}"


def in_own_mounts(script: str, *words: object) -> list[Any]:
    """Run a shell script where it may mount what it likes; what it prints is read as JSON, a line each.

    ``$PYTHON`` is this Python, and ``$1`` and so on are the words.
    """
    if (reason := reason_without_mounts()) is not None:
        pytest.skip(f"a small disk can't be mounted: {reason}")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-euc", f"PYTHON={sys.executable}\n{script}", "sh", *(str(word) for word in words)],
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, (done.stdout[-2000:], done.stderr[-2000:])
    return [json.loads(line) for line in done.stdout.splitlines()]


CHILD = Path(__file__).with_name("bench_child.py")
