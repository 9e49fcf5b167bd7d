"""Refuse files that hold private keys, service tokens or addresses of package registries.

Run by pre-commit on the files of a commit, and by the test suite on every tracked file.
"""

import re
import sys
from pathlib import Path

# Written in pieces, so that this file passes its own check.
PATTERNS = {
    "a private key": re.compile(
        r"-{4,5} ?BEGIN [A-Z0-9 ]*" + r"PRIVATE KEY(?: BLOCK)? ?-{4,5}|PuTTY-User-" + r"Key-File-\d"
    ),
    "a service token": re.compile(
        r"\b(?:sk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{30,}|gh[pousr]_[A-Za-z0-9]{30,}"
        r"|xox[abp]-[A-Za-z0-9-]{20,}|AKIA[A-Z0-9]{16}|tvly-[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{30,})\b"
    ),
    "a registry address": re.compile(
        r"https?://[^\s\"']*(?:pypi\." + r"org/simple|registry\.npmjs\." + r"org|files\.pythonhosted\." + r"org)"
    ),
}

# What every match holds: looking for these first spares most files the search, which takes seconds over all of them.
HINTS = {
    "a private key": ("PRIVATE KEY", "PuTTY-User-"),
    "a service token": ("sk-", "AIza", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "xox", "AKIA", "tvly-", "hf_"),
    "a registry address": ("pypi.", "registry.npmjs.", "files.pythonhosted."),
}


def faults(path: Path) -> list[str]:
    """What a file holds that it must not; in any encoding that keeps ASCII, and in binary files too."""
    try:
        text = path.read_bytes().decode("latin-1")
    except OSError:
        return []
    likely = {what: PATTERNS[what] for what, hints in HINTS.items() if any(hint in text for hint in hints)}
    if not likely:
        return []
    return [
        f"{path}:{number}: holds {what}"
        for number, line in enumerate(text.split("\n"), 1)
        for what, pattern in likely.items()
        if pattern.search(line)
    ]


def main() -> int:
    """Check the files named on the command line."""
    found = [fault for name in sys.argv[1:] for fault in faults(Path(name))]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
