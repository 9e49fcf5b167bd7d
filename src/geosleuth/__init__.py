"""Photo in, place out, with evidence.

    import geosleuth

    finding = geosleuth.locate("photo.jpg")
    print(finding.answer.address, finding.answer.point)

The folders of this package show how a photo travels; ``docs/architecture.md`` draws the way on one screen.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_OPENERS = ("locate", "alocate")


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: most of what the package does needs none of it.
    if name in _OPENERS:
        return getattr(import_module("geosleuth.pipeline.api"), name)
    raise AttributeError(f"module 'geosleuth' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_OPENERS})
