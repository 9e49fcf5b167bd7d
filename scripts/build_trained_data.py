"""Collect the trained data with which Tesseract reads the scripts that RapidOCR's models do not know.

    python scripts/build_trained_data.py      # fetches the packages with `npm pack`

Source: the npm packages ``@tesseract.js-data/LANG`` 1.0.0 (MIT licence by their package.json), which carry the integer
form of Tesseract's ``tessdata_best`` models (Apache License 2.0, by Google and others). Each is unpacked and its word,
punctuation and number lists are cut out: they are most of the size, and signs are names more often than words of a
dictionary. The networks, their alphabets and settings stay byte for byte. Same packages, same bytes.
"""

import gzip
import struct
from pathlib import Path

from registry import npm_file

FOLDER = Path(__file__).parents[1] / "src/geosleuth/photo/text/data"
VERSION = "1.0.0"
LANGUAGES = (
    "amh", "ara", "ben", "ell", "fas", "guj", "heb", "hin", "hye", "kan", "kat", "kaz", "kor", "mal", "mya",
    "pan", "sin", "srp", "tam", "tel", "tha", "ukr",
)  # fmt: skip
LISTS = frozenset({18, 19, 20})
"""Positions of the punctuation, word and number lists in a trained-data file."""


def main() -> None:
    """Fetch the packages and write one trained-data file a language."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for old in FOLDER.glob("*.traineddata"):
        old.unlink()
    total = 0
    for language in LANGUAGES:
        member = f"4.0.0_best_int/{language}.traineddata.gz"
        lean = without_lists(gzip.decompress(npm_file(f"@tesseract.js-data/{language}", VERSION, member)))
        (FOLDER / f"{language}.traineddata").write_bytes(lean)
        total += len(lean)
        print(f"{language}  {len(lean) / 1e6:.2f} MB")
    print(f"{len(LANGUAGES)} languages, {total / 1e6:.2f} MB")


def without_lists(content: bytes) -> bytes:
    """The same trained data without its lists.

    The file is a count, that many offsets (-1 where a part is missing) and the parts, all little-endian.
    """
    (count,) = struct.unpack_from("<I", content)
    offsets = struct.unpack_from(f"<{count}q", content, 4)
    starts = sorted(offset for offset in offsets if offset >= 0)
    ends = dict(zip(starts, [*starts[1:], len(content)], strict=True))
    first = 4 + 8 * count
    kept = [-1] * count
    body = b""
    for place, offset in enumerate(offsets):
        if offset >= 0 and place not in LISTS:
            kept[place] = first + len(body)
            body += content[offset : ends[offset]]
    return struct.pack(f"<I{count}q", count, *kept) + body


if __name__ == "__main__":
    main()
