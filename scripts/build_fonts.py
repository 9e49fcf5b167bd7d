"""Collect the fonts that maps are labelled with, and the table that says which characters each of them has.

    python scripts/build_fonts.py                      # fetches the packages with `npm pack`
    python scripts/build_fonts.py --packages folder    # or reads tarballs that are already there

Needs fonttools and brotli, which nothing else here does: ``pip install fonttools brotli``.

Sources: Noto Sans (SIL Open Font Licence 1.1). Latin, Cyrillic and Greek are cut out of the whole fonts of
``@expo-google-fonts/noto-sans``, in two weights. All other scripts are the single-script files of
``@fontsource/noto-sans-*``, taken byte for byte. Pillow can't ask a font which characters it has, and a missing one
would be drawn as an empty box; so ``coverage.json`` lists them, as runs of (first character, how many). Same packages,
same bytes.
"""

import argparse
import io
import json
import subprocess
import sys
import tarfile
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

FONTS = Path(__file__).parents[1] / "src/geosleuth/atlas/maps/fonts"

WHOLE = "@expo-google-fonts/noto-sans@0.4.2"
WEIGHTS = {"sans": "400Regular/NotoSans_400Regular.ttf", "sans-semibold": "600SemiBold/NotoSans_600SemiBold.ttf"}
WHOLE_RANGES = (
    "20-7E,A0-24F,250-2AF,2B0-2FF,300-36F,370-3FF,400-52F,1D00-1DBF,1E00-1EFF,1F00-1FFF,"
    "2000-206F,2070-209F,20A0-20C0,2116,2122,2190-2193,2C60-2C7F,A640-A69F,A720-A7FF"
)

FONTSOURCE = "5.3.0"
SCRIPTS = {
    "arabic": "sans", "hebrew": "sans", "thai": "sans", "devanagari": "sans", "bengali": "sans", "gujarati": "sans",
    "gurmukhi": "sans", "oriya": "sans", "tamil": "sans", "telugu": "sans", "kannada": "sans", "malayalam": "sans",
    "sinhala": "sans", "khmer": "sans", "lao": "sans", "myanmar": "sans", "tibetan": "serif", "armenian": "sans",
    "georgian": "sans", "ethiopic": "sans", "thaana": "sans", "tifinagh": "sans", "canadian-aboriginal": "sans",
    "cherokee": "sans",
}  # fmt: skip
"""Scripts of one package each, and whether Noto draws them sans or only serif."""

EAST_ASIAN = {"kr": "korean", "jp": "japanese", "sc": "chinese-simplified"}
SHAPED = {
    "arabic", "hebrew", "devanagari", "bengali", "gujarati", "gurmukhi", "oriya", "tamil", "telugu", "kannada",
    "malayalam", "sinhala", "khmer", "myanmar", "tibetan", "thaana",
}  # fmt: skip
"""Scripts that read wrongly when letters are merely set side by side from the left."""


def main() -> None:
    """Fetch or read the packages, write the fonts, their coverage and their licence."""
    options = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    options.add_argument("--packages", type=Path, help="folder with the npm tarballs; fetched with npm where not given")
    packages: Path | None = options.parse_args().packages
    FONTS.mkdir(parents=True, exist_ok=True)
    for old in FONTS.glob("*.woff2"):
        old.unlink()
    with tempfile.TemporaryDirectory() as scratch:
        shelf = packages or Path(scratch)
        coverage = {}
        for name, member in WEIGHTS.items():
            data = _cut(_member(shelf, WHOLE, member))
            coverage[name] = {"shaped": False, "runs": _runs(data)}
            _write(name, data)
        for script, style in SCRIPTS.items():
            package = f"noto-{style}-{script}"
            data = _member(shelf, f"@fontsource/{package}@{FONTSOURCE}", f"files/{package}-{script}-400-normal.woff2")
            coverage[script] = {"shaped": script in SHAPED, "runs": _runs(data)}
            _write(script, data)
        for code, subset in EAST_ASIAN.items():
            package = f"noto-sans-{code}"
            data = _member(shelf, f"@fontsource/{package}@{FONTSOURCE}", f"files/{package}-{subset}-400-normal.woff2")
            coverage[subset] = {"shaped": False, "runs": _runs(data)}
            _write(subset, data)
        licence = _member(shelf, WHOLE, "LICENSE_FONT").decode().split("\n", 1)[1]
    owners = dict.fromkeys(_copyright(FONTS / f"{name}.woff2") for name in coverage)
    (FONTS / "OFL.txt").write_text("\n".join(owners) + "\n" + licence, encoding="utf-8")
    (FONTS / "coverage.json").write_text(json.dumps(coverage, separators=(",", ":")) + "\n", encoding="ascii")
    total = sum(file.stat().st_size for file in FONTS.iterdir())
    print(f"{len(coverage)} fonts, {total:,} bytes", file=sys.stderr)


def _member(shelf: Path, package: str, member: str) -> bytes:
    """One file of an npm package; the tarball is fetched where it is not on the shelf yet."""
    name, version = package.lstrip("@").replace("/", "-").rsplit("@", 1)
    tarball = shelf / f"{name}-{version}.tgz"
    if not tarball.exists():
        subprocess.run(["npm", "pack", "--silent", package], cwd=shelf, check=True, stdout=subprocess.DEVNULL)
    with tarfile.open(tarball) as archive:
        file = archive.extractfile(f"package/{member}")
        if file is None:
            raise SystemExit(f"{tarball.name} holds no {member}")
        return file.read()


def _cut(data: bytes) -> bytes:
    """Only the characters of ``WHOLE_RANGES``, as WOFF2, with the time stamp left as it was."""
    subset: Any = import_module("fontTools.subset")
    options = subset.Options(
        flavor="woff2", recalc_timestamp=False, layout_features=["ccmp", "locl", "mark", "mkmk", "kern"]
    )
    font = subset.load_font(io.BytesIO(data), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=subset.parse_unicodes(WHOLE_RANGES))
    cutter.subset(font)
    out = io.BytesIO()
    subset.save_font(font, out, options)
    return out.getvalue()


def _runs(data: bytes) -> list[int]:
    """First character and length of each run of characters that the font has, flat."""
    ttlib: Any = import_module("fontTools.ttLib")
    runs: list[int] = []
    for code in sorted(ttlib.TTFont(io.BytesIO(data)).getBestCmap()):
        if runs and code == runs[-2] + runs[-1]:
            runs[-1] += 1
        else:
            runs += [code, 1]
    return runs


def _copyright(font: Path) -> str:
    """The notice that the font itself carries."""
    ttlib: Any = import_module("fontTools.ttLib")
    return str(ttlib.TTFont(font)["name"].getDebugName(0))


def _write(name: str, data: bytes) -> None:
    (FONTS / f"{name}.woff2").write_bytes(data)


if __name__ == "__main__":
    main()
