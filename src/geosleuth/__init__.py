"""Photo in, place out, with evidence.

The folders of this package show how a photo travels; ``docs/architecture.md`` draws the way on one screen.
"""

__version__ = "0.1.0"
