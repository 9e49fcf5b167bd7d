"""A virtual environment for a library that can't live in the developers' own, made once and kept in the cache folder.

It has the library with all that it wants, and after that whatever the developers' environment has.
"""

import fcntl
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def python_with(*requirements: str, deps: bool = True) -> Path:
    """The Python of an environment with these packages; skips the test where they can't be installed."""
    name = "-".join(one.replace("==", "-") for one in requirements)
    folder = ROOT / ".cache" / "test-venvs" / f"{name}-py{sys.version_info.major}{sys.version_info.minor}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    python, done = folder / "bin" / "python", folder / "done"
    with (folder.parent / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.is_file():
            subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
            options = [] if deps else ["--no-deps"]
            installed = subprocess.run(
                [python, "-m", "pip", "install", "-q", *options, *requirements],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if installed.returncode:
                lines = [line for line in installed.stderr.splitlines() if line.startswith("ERROR")]
                pytest.skip(f"{' '.join(requirements)} can't be installed here: {lines[-1] if lines else 'pip failed'}")
            site = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
            paths = (sysconfig.get_path("purelib"), ROOT / "src", ROOT / "tests" / "support")
            (site / "developers.pth").write_text("".join(f"{path}\n" for path in paths), encoding="utf-8")
            done.touch()
    return python


def output_of(python: Path, script: Path, *arguments: str) -> str:
    """What a script prints there; fails with what it says where it does not end well."""
    ended = subprocess.run([python, script, *arguments], capture_output=True, text=True, check=False, timeout=300)
    assert ended.returncode == 0, ended.stderr[-4000:]
    return ended.stdout
