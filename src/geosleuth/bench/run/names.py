"""What photos are called in a run: names that tell nothing to whoever does not have the run's key."""

import hmac
import re
import secrets

LENGTH = 16
_NAME = re.compile(rf"[0-9a-f]{{{LENGTH}}}")
_FILE = re.compile(rf"([0-9a-f]{{{LENGTH}}})\.([1-9][0-9]{{0,4}})\.(?:.+\.)?jsonl")


def new_key() -> str:
    """A key for the names of one run, in hexadecimal digits."""
    return secrets.token_hex(32)


def name_of(key: str, id: str) -> str:  # noqa: A002  (the data set's own word)
    """The name of a photo: always the same in one run, and without the key no way back to the id."""
    return hmac.digest(bytes.fromhex(key), id.encode("utf-8", "surrogatepass"), "sha256").hex()[:LENGTH]


def is_name(text: str) -> bool:
    """Whether this can be the name of a photo; anything else must not become part of a path."""
    return _NAME.fullmatch(text) is not None


def file_name(name: str, number: int) -> str:
    """What the trajectory of a try is called."""
    return f"{name}.{number}.jsonl"


def read_file_name(file: str) -> tuple[str, int] | None:
    """Which try of which photo a file of trajectories belongs to; None where it is something else."""
    found = _FILE.fullmatch(file)
    return None if found is None else (found[1], int(found[2]))
