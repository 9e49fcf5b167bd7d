"""Build the page anew and compare it with the committed one; without Node there is nothing to compare.

    python scripts/check_page.py

Ends with 1 where the two differ: `make page` builds the committed one anew.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from build_page_types import TYPES, page_types

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "page"
BUILT = ROOT / "src" / "geosleuth" / "server" / "page"
OLDEST_NODE = (20, 19)


def main() -> int:
    """Say what differs, or why nothing was compared."""
    if TYPES.read_text(encoding="utf-8") != page_types():
        print(f"{TYPES.relative_to(ROOT)} is not what the server promises\nRun: make page", file=sys.stderr)
        return 1
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None or node_version(node) < OLDEST_NODE:
        oldest = ".".join(map(str, OLDEST_NODE))
        print(f"The built page is not compared with its sources: no Node {oldest} or newer is here.", file=sys.stderr)
        return 0
    if not (SOURCES / "node_modules" / ".package-lock.json").is_file():
        print("Fetching what the page is built with.", file=sys.stderr)
        fetched = subprocess.run([npm, "ci", "--loglevel=error"], cwd=SOURCES, capture_output=True, check=False)
        if fetched.returncode:
            print("The built page is not compared with its sources: npm could not fetch its packages.", file=sys.stderr)
            return 0
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "run", "--silent", "build", "--", "--outDir", folder, "--logLevel", "error"]
        ran = subprocess.run(command, cwd=SOURCES, capture_output=True, text=True, check=False)
        if ran.returncode:
            print(f"The page does not build:\n{ran.stdout}{ran.stderr}", file=sys.stderr)
            return 1
        wrong = differing(Path(folder), BUILT)
    for name in wrong:
        print(f"{name} differs from what its sources give", file=sys.stderr)
    if wrong:
        print("Run: make page", file=sys.stderr)
    return int(bool(wrong))


def node_version(node: str) -> tuple[int, ...]:
    """Major and minor number, such as (20, 19); nothing where it does not say."""
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", said)[:2])


def differing(made: Path, kept: Path) -> list[str]:
    """Names of files that only one of two folders has, or that differ."""
    names = {path.relative_to(folder) for folder in (made, kept) for path in folder.rglob("*") if path.is_file()}
    return sorted(str(name) for name in names if _bytes(made / name) != _bytes(kept / name))


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


if __name__ == "__main__":
    sys.exit(main())
