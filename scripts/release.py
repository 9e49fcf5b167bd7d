"""Write what goes beside a release's wheel: a CycloneDX bill of materials and SHA-256 sums; or pins with hashes.

    python scripts/release.py DIST/                      # DIST/*.cdx.json and DIST/SHA256SUMS
    python scripts/release.py --hashed FILE [--extras serve,models]

The bill lists what is installed here of all that the core and the extras need, with versions and licences: run it where
``constraints.txt`` is installed with every extra (``.venv-dev``). The same files and installation give the same bill
but for its time. ``--hashed`` asks pip which files it would take for this machine, and writes their hashes for
``pip install --require-hashes``; such a file belongs to one platform and is not committed.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import uuid
import venv
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_licences import by_extra, core, licence_of, needs, plain_name

ROOT = Path(__file__).resolve().parents[1]
SPEC = "1.6"
SUMS = "SHA256SUMS"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "geosleuth")


def sha256_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def bill(files: Sequence[Path], *, made: datetime) -> dict[str, Any]:
    """The bill of materials of a release with these files."""
    required, optional = installed(core()), installed(set().union(*by_extra().values()))
    names = {**dict.fromkeys(sorted(optional - required), "optional"), **dict.fromkeys(sorted(required), "required")}
    own = component("geosleuth", kind="application")
    own["hashes"] = [{"alg": "SHA-256", "content": sha256_of(path)} for path in files if path.suffix == ".whl"]
    components = [{**component(name), "scope": scope} for name, scope in sorted(names.items())]
    known = {name: ref_of(name) for name in ["geosleuth", *sorted(names)]}
    body: dict[str, Any] = {
        "metadata": {
            "timestamp": made.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": own,
            "tools": {"components": [{"type": "application", "name": "scripts/release.py"}]},
        },
        "components": components,
        "dependencies": [
            {"ref": ref, "dependsOn": sorted(known[one] for one in below(name) if one in known)}
            for name, ref in known.items()
        ],
    }
    serial = uuid.uuid5(_NAMESPACE, json.dumps([own, components], sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": SPEC, "serialNumber": f"urn:uuid:{serial}", "version": 1}
    return {**head, **body}


def below(name: str) -> set[str]:
    """What a package asks for by itself; of geosleuth, with every extra that users install."""
    extras = tuple(by_extra()) if name == "geosleuth" else ()
    return {one for one, _ in needs(name, extras)}


def installed(names: Iterable[str]) -> set[str]:
    """Those that are installed here, with all that they need."""
    found: set[str] = set()
    waiting = [(name, ()) for name in names]
    while waiting:
        name, extras = waiting.pop()
        if name not in found and version_of(name) is not None:
            found.add(name)
            waiting += needs(name, extras)  # type: ignore[arg-type]
    return found


def version_of(name: str) -> str | None:
    """The version that is installed, without the label of a local build."""
    try:
        return metadata.version(name).partition("+")[0]
    except metadata.PackageNotFoundError:
        return None


def ref_of(name: str) -> str:
    """The package URL."""
    return f"pkg:pypi/{plain_name(name)}@{version_of(name)}"


def component(name: str, *, kind: str = "library") -> dict[str, Any]:
    """One entry of the bill."""
    told = metadata.metadata(name)
    licence = licence_of(name)
    exact = "License-Expression" in told and licence == told["License-Expression"]
    licences = [{"expression": licence}] if exact else [{"license": {"name": licence}}] if licence else []
    return {
        "type": kind,
        "bom-ref": ref_of(name),
        "name": plain_name(name),
        "version": version_of(name),
        "purl": ref_of(name),
        **({"licenses": licences} if licences else {}),
    }


def write_release(folder: Path) -> list[Path]:
    """Write bill and sums beside the packages of a folder; the files that were written."""
    files = sorted([*folder.glob("*.whl"), *folder.glob("*.tar.gz")])
    if not any(path.suffix == ".whl" for path in files):
        raise SystemExit(f"{folder}: holds no wheel; run python -m build first")
    target = folder / f"geosleuth-{version_of('geosleuth')}.cdx.json"
    document = bill(files, made=datetime.now(UTC))
    target.write_text(json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    sums = folder / SUMS
    sums.write_text("".join(f"{sha256_of(path)}  {path.name}\n" for path in [*files, target]), encoding="utf-8")
    return [target, sums]


def hashed_pins(extras: str) -> str:
    """The pins that pip takes on this machine, each with the hash of its file."""
    wanted = f"{ROOT}[{extras}]" if extras else str(ROOT)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        pip = [str(folder / "venv" / "bin" / "python"), "-m", "pip", "--disable-pip-version-check", "--quiet"]
        report = folder / "report.json"
        options = ["--dry-run", "--report", str(report), "--constraint", str(ROOT / "constraints.txt")]
        subprocess.run([*pip, "install", *options, wanted], check=True, stdout=sys.stderr)
        lines = ["# For pip install --require-hashes, on this platform only. Made by scripts/release.py --hashed"]
        for item in json.loads(report.read_text(encoding="utf-8"))["install"]:
            told = item["metadata"]
            if plain_name(told["name"]) == "geosleuth":
                continue
            pin = f"{plain_name(told['name'])}=={told['version']}"
            found = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256")
            if found is None:
                # An index without hashes: the file itself has to say.
                at = folder / "files" / plain_name(told["name"])
                subprocess.run([*pip, "download", "--no-deps", "--dest", str(at), pin], check=True, stdout=sys.stderr)
                found = sha256_of(next(at.iterdir()))
            lines.append(f"{pin} --hash=sha256:{found}")
    return "\n".join([lines[0], *sorted(lines[1:])]) + "\n"


def main() -> None:
    """Write what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("dist", type=Path, nargs="?", help="the folder that python -m build filled")
    parser.add_argument("--hashed", type=Path, metavar="FILE", help="write pins with hashes into this file instead")
    parser.add_argument("--extras", default="", help="with --hashed: extras to pin besides the core")
    chosen = parser.parse_args()
    if chosen.hashed is not None:
        chosen.hashed.write_text(hashed_pins(chosen.extras), encoding="utf-8")
        print(f"wrote {chosen.hashed}")
    elif chosen.dist is not None:
        for path in write_release(chosen.dist):
            print(f"wrote {path}")
    else:
        parser.error("name the folder of the packages, or --hashed FILE")


if __name__ == "__main__":
    main()
