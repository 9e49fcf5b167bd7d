"""Looking at an input file before anything is done with it."""

from hashlib import sha256
from pathlib import Path

from geosleuth.errors import BadInput

from .writer import Progress


def check_readable(path: Path) -> None:
    """Refuse what is not a file with something in it.

    Raises:
        BadInput: the file is missing, no file, or empty.
    """
    if not path.exists():
        raise BadInput(f"{path} does not exist")
    if not path.is_file():
        raise BadInput(f"{path} is not a file")
    if not path.stat().st_size:
        raise BadInput(f"{path} is empty; download it again")


def digest_of(path: Path, report: Progress) -> str:
    """The file's SHA-256, in hexadecimal.

    Raises:
        BadInput: the file can't be read.
    """
    total, done, digest = path.stat().st_size, 0, sha256()
    try:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
                done += len(block)
                report("reading the file", done, total)
    except OSError as error:
        raise BadInput(f"{path} can't be read: {error.strerror or error}") from error
    return digest.hexdigest()
