"""Draw the golden scenes and write their digests into tests/lab/scenes/drawing/test_pixels.py.

Run it after a change that is meant to change pixels, with the versions that constraints.txt names. It says which
digests are new; with --check it writes nothing and fails where one is.
"""

import argparse
import importlib.util
import re
import sys
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parent.parent
PIXELS = ROOT / "tests" / "world" / "drawing" / "test_pixels.py"
_DIGEST = re.compile(r'"(?:\?|[0-9a-f]{32})"')


def main() -> int:
    """Draw, compare, and write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit with 1 where a digest differs")
    check: bool = parser.parse_args().check
    golden = _golden()
    if golden.WHY_NOT:
        print(f"nothing was drawn: {golden.WHY_NOT}", file=sys.stderr)
        return 1
    text, changed = PIXELS.read_text(encoding="utf-8"), 0
    for name, (scene, *stored) in golden.SCENES.items():
        drawing = golden.draw_scene(scene())
        made = [golden.digest(drawing.image.tobytes()), golden.digest(drawing.jpeg())]
        print(name, *made, "same" if made == stored else "new")
        changed += made != stored
        start = text.index(f'    "{name}": (')
        pixels, jpeg = list(_DIGEST.finditer(text, start))[:2]
        text = f'{text[: pixels.start()]}"{made[0]}"{text[pixels.end() : jpeg.start()]}"{made[1]}"{text[jpeg.end() :]}'
    if changed and not check:
        PIXELS.write_text(text, encoding="utf-8")
    return int(check and changed > 0)


def _golden() -> ModuleType:
    sys.path.insert(0, str(ROOT / "tests" / "support"))
    found = importlib.util.spec_from_file_location("test_pixels", PIXELS)
    if found is None or found.loader is None:
        raise SystemExit(f"{PIXELS} can't be read")
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


if __name__ == "__main__":
    sys.exit(main())
