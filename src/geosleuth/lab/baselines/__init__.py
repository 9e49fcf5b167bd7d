"""Baselines as policies: a prior that never looks, the nearest photo of a gallery, GeoCLIP. They answer in one step.

Runs find them as plug-ins, by the entry points of this package.
"""

from .options import BASELINES, is_baseline

__all__ = ["BASELINES", "is_baseline"]
