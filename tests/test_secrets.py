"""The check for secrets: what it finds, wherever it hides, and that the repository passes it."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "check_secrets.py"
# In pieces, so that this file passes too.
SECRETS = {
    "pem": "-----BEGIN RSA " + "PRIVATE KEY-----",
    "openssh": "-----BEGIN OPENSSH " + "PRIVATE KEY-----",
    "pgp": "-----BEGIN PGP " + "PRIVATE KEY BLOCK-----",
    "ssh2": "---- BEGIN SSH2 ENCRYPTED " + "PRIVATE KEY ----",
    "putty": "PuTTY-User-" + "Key-File-3: ssh-ed25519",
    "hugging face": "hf_" + "aB3" * 12,
    "github": "ghp_" + "aB3" * 12,
    "registry": "https://files.pythonhosted." + "org/packages/x",
}


def faults(path: Path) -> list[str]:
    spec = importlib.util.spec_from_file_location("check_secrets", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    found: list[str] = module.faults(path)
    return found


@pytest.mark.parametrize("kind", SECRETS)
@pytest.mark.parametrize("around", [b"", b"caf\xe9 \xff\xfe\x00 "], ids=["utf-8", "bytes"])
def test_secrets_are_found_in_any_file(tmp_path: Path, kind: str, around: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(around + b"\nkey = '" + SECRETS[kind].encode() + b"'\n" + around)
    (fault,) = faults(path)
    assert fault.startswith(f"{path}:2: holds a ")


@pytest.mark.parametrize("text", ["-----BEGIN PUBLIC KEY-----", "hf_hub_download(repo)", "my sk-ip", "no key at all"])
def test_what_only_looks_like_one_passes(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file"
    path.write_text(text)
    assert faults(path) == []


def test_the_repository_holds_none() -> None:
    git = shutil.which("git")
    listed = git and subprocess.run([git, "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if not listed or listed.returncode:
        pytest.skip("this is no git checkout, so there is no list of tracked files")
    names = {*listed.stdout.split("\0")} - {""} | {str(path.relative_to(ROOT)) for path in (SCRIPT, Path(__file__))}
    done = subprocess.run([sys.executable, SCRIPT, *names], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
