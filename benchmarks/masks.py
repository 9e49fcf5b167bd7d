"""What the detective's answers hang on: drawn signs with the names of towns, whole and with something hidden.

    python benchmarks/masks.py OUT/ [--signs N]

Draws the first N signs of `tests/support/sign_texts.py` that have a place and plain Latin letters as a data set in
OUT/signs/, then runs `geosleuth bench ablate --vary mask=none,text` and `bench run --mask clue` on it. Give the same
command again to go on where it stopped. Takes a few minutes on two cores.
"""

import argparse
import csv
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))

from sign_texts import SignText, sign_texts
from signs import sign_photo

KINDS = ("town", "street", "shop", "distance")


def draw(folder: Path, signs: list[SignText]) -> Path:
    """The signs as photos, and a table that says where they stand."""
    folder.mkdir(parents=True, exist_ok=True)
    table = folder / "signs.csv"
    with table.open("w", encoding="utf-8", newline="") as stream:
        rows = csv.writer(stream)
        rows.writerow(["id", "image", "lat", "lon"])
        for number, sign in enumerate(signs):
            photo = folder / f"{number}.jpg"
            if not photo.exists():
                sign_photo(photo, *sign.lines)
            if sign.point is not None:
                rows.writerow([f"s{number}", photo.name, sign.point.lat, sign.point.lon])
    return table


def geosleuth(*words: object) -> None:
    """Run a command of ours; its figures go to the terminal."""
    subprocess.run([Path(sys.executable).with_name("geosleuth"), "bench", *map(str, words)], check=False)


def main() -> None:
    """Draw, run, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path)
    parser.add_argument("--signs", type=int, default=20)
    asked = parser.parse_args()
    plain = [sign for sign in sign_texts() if sign.kind in KINDS and sign.point and sign.name.isascii()]
    table = draw(asked.out / "signs", plain[: asked.signs])
    geosleuth("ablate", "--data", table, "--vary", "mask=none,text", "--out", asked.out / "masked")
    whole = asked.out / "masked" / "none"
    geosleuth("run", "--data", table, "--mask", "clue", "--unmasked", whole, "--out", asked.out / "clue")


if __name__ == "__main__":
    main()
