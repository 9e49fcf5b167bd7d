"""Draw the example scenes of examples/photos, which `make demo` locates.

    python scripts/make_example_photos.py

The scenes are drawn with tests/support/scenes.py: two shop fronts in Monaco with names from the bundled extract of
OpenStreetMap, one of them behind a foreign tour bus; a bookshop far from there; and a hillside that tells nothing.
"""

import random
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))

from scene_drawing import Board, draw  # noqa: E402
from scene_places import BUNDLED_MONACO, Business, businesses  # noqa: E402

FOLDER = ROOT / "examples" / "photos"
SIZE = (1280, 960)


def door(name: str) -> Business:
    """The business of that name in the bundled extract."""
    return next(one for one in businesses(BUNDLED_MONACO, "monaco") if one.name == name)


def boards_at(one: Business) -> tuple[Board, ...]:
    """All that is known of a business, on its front."""
    told = tuple(text for text in (one.phone, one.domain) if text)
    plate = (Board("plate", (one.street,)),) if one.street else ()
    return (Board("front", (one.name,)), *plate, *((Board("notice", told),) if told else ()))


def main() -> int:
    """Draw and store."""
    FOLDER.mkdir(exist_ok=True)
    bus = Board("bus", ("Alpenblick Reisen Innsbruck", "+43 664 1234567"))
    bookshop = (
        Board("front", ("ร้านหนังสือ",)),
        Board("plate", ("ถนนท่าแพ",)),
        Board("notice", ("เชียงใหม่", "053 271 345")),
    )
    pictures = {
        "drawn-bakery.jpg": draw("house", boards_at(door("L'Épi d'Or")), SIZE, 1, random.Random(3)),
        "drawn-tour-bus.jpg": draw("house", (*boards_at(door("La maison des pâtes")), bus), SIZE, 1, random.Random(8)),
        "drawn-bookshop.jpg": draw("house", bookshop, SIZE, 1, random.Random(5)),
        "drawn-hillside.jpg": draw("landscape", (), SIZE, 1, random.Random(4)),
    }
    for name, drawn in pictures.items():
        (FOLDER / name).write_bytes(drawn.jpeg(82))
        print(f"{name}: {' | '.join(text.text for text in drawn.texts) or 'nothing to read'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
