"""Signatures of evidence packages with a key of one's own, made and checked by OpenSSH's ``ssh-keygen``."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from geosleuth.support.errors import BadInput
from geosleuth.support.files import read_regular
from geosleuth.support.text.safe import one_line

SUFFIX = ".sig"
_PROGRAM = "ssh-keygen"
_NAMESPACE = "geosleuth"
_PUBLIC_KEY = re.compile(r"((?:ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/]+={0,3})(?: [^\n]*)?\s*")
_MAX_BYTES = 16 * 1024
_SECONDS = 120


class NotSigned(BadInput):
    """A signature is missing, of another key or for another file."""


def signature_path(package: Path) -> Path:
    """Return where a package's signature lies: beside it."""
    return package.with_name(package.name + SUFFIX)


def sign(package: Path, key: Path) -> Path:
    """Sign a package with a private key, and return the signature's file.

    Raises:
        BadInput: ssh-keygen is not installed or refuses the key, or a signature is there already.
    """
    made = signature_path(package)
    if made.exists():
        raise BadInput(f"{made}: is there already; delete it to sign again")
    done = _run_ssh_keygen("-Y", "sign", "-f", str(key.expanduser()), "-n", _NAMESPACE, str(package))
    if done.returncode != 0 or not made.is_file():
        raise BadInput(f"{key}: can't sign with it: {_last_line(done.stderr)}; give a private key of OpenSSH")
    return made


def check_signature(package: Path, public_key: Path) -> None:
    """Check that the signature beside a package is of a public key.

    Raises:
        BadInput: ssh-keygen is not installed, or the file holds no public key.
        NotSigned: there is no signature, or it is another key's or another file's.
    """
    try:
        text = read_regular(public_key.expanduser(), _MAX_BYTES).decode("utf-8", "replace")
    except OSError as error:
        raise BadInput(f"{public_key}: can't be read: {error.strerror or error}") from error
    found = _PUBLIC_KEY.fullmatch(text)
    if found is None:
        raise BadInput(f"{public_key}: is no public key of OpenSSH; give the signer's .pub file")
    signature = signature_path(package)
    if not signature.is_file():
        raise NotSigned(f"{signature}: is not there; ask the sender for it")
    with tempfile.TemporaryDirectory(prefix="geosleuth-") as folder:
        allowed = Path(folder) / "signers"
        allowed.write_text(f"signer {found[1]}\n", encoding="utf-8")
        words = ("-Y", "verify", "-f", str(allowed), "-I", "signer", "-n", _NAMESPACE, "-s", str(signature))
        done = _run_ssh_keygen(*words, given=package)
    if done.returncode != 0:
        raise NotSigned(f"{signature}: is no signature of this package by {public_key}")


def _run_ssh_keygen(*words: str, given: Path | None = None) -> "subprocess.CompletedProcess[str]":
    program = shutil.which(_PROGRAM)
    if program is None:
        raise BadInput(f"signatures need the program {_PROGRAM}, which is not installed; install OpenSSH")
    try:
        with Path(os.devnull if given is None else given).open("rb") as stream:
            return subprocess.run(
                [program, *words],
                stdin=stream,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=_SECONDS,
            )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise BadInput(f"{_PROGRAM} did not run: {one_line(str(error))[:200]}") from error


def _last_line(text: str) -> str:
    return one_line((text.strip().splitlines() or ["no reason given"])[-1])[:200]
