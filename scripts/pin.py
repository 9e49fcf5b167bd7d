"""Print the constraints file: every distribution that geosleuth, its extras and developers need, by name and version.

Resolves in a fresh environment with pip's own resolver and installs nothing. Local version labels (such as a CPU
build's) are dropped, so that the pins hold on every machine.
"""

import json
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

GROUPS = ("dev", "docs", "attack")
ROOT = Path(__file__).resolve().parent.parent


def main() -> None:
    """Resolve and print."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        report = Path(folder) / "report.json"
        python = Path(folder) / "bin" / "python"
        install = [str(python), "-m", "pip", "install", "--quiet"]
        subprocess.run([*install, "pip>=25.1"], check=True, stdout=sys.stderr)  # older ones know no groups
        groups = [word for group in GROUPS for word in ("--group", f"{ROOT / 'pyproject.toml'}:{group}")]
        options = ["--dry-run", "--report", str(report), *groups]
        subprocess.run([*install, *options, f"{ROOT}[all]"], check=True, stdout=sys.stderr)
        found = json.loads(report.read_text(encoding="utf-8"))["install"]
    pins = {item["metadata"]["name"].lower().replace("_", "-"): item["metadata"]["version"] for item in found}
    del pins["geosleuth"]
    print("# What geosleuth is tested with: names and versions only. Rewrite with: make constraints")
    for name, version in sorted(pins.items()):
        print(f"{name}=={version.partition('+')[0]}")


if __name__ == "__main__":
    main()
