"""Baselines as policies: a prior that never looks, the nearest photo of a gallery, GeoCLIP. They answer in one step."""

from .baseline_spec import BASELINES, is_baseline, make_baseline

__all__ = ["BASELINES", "is_baseline", "make_baseline"]
