"""Photo in, place out, with evidence.

    import geosleuth

    finding = geosleuth.locate("photo.jpg")
    print(finding.answer.address, finding.answer.point)

The folders of this package show how a photo travels; ``docs/background/architecture.md`` draws the way on one screen.
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public names of the package and the module that each is imported from.
_MODULES = {
    "locate": "geosleuth.pipeline.api",
    "alocate": "geosleuth.pipeline.api",
    "locate_many": "geosleuth.pipeline.api",
    "LocateResult": "geosleuth.pipeline.result",
    "Findings": "geosleuth.pipeline.result",
    "GeosleuthError": "geosleuth.support.errors",
    "UserError": "geosleuth.support.errors",
}

__all__ = ["Findings", "GeosleuthError", "LocateResult", "UserError", "alocate", "locate", "locate_many"]


def __getattr__(name: str) -> Any:
    # Loaded when it is asked for: most of what the package does needs none of it.
    if name in _MODULES:
        return getattr(import_module(_MODULES[name]), name)
    raise AttributeError(f"module 'geosleuth' has no attribute {name!r}")


def __dir__() -> list[str]:
    return ["__version__", *__all__]
