"""Open a report in the browser where there is one, and say where it lies in any case."""

import os
import sys
import webbrowser
from pathlib import Path


def main() -> None:
    """Open the page named on the command line."""
    page = Path(sys.argv[1]).resolve()
    print(f"The report is {page}")
    has_screen = sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_screen and not os.environ.get("CI"):
        webbrowser.open(page.as_uri())
    else:
        print("There is no screen here; open that file in any browser.")


if __name__ == "__main__":
    main()
