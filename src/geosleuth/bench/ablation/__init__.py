"""Ablations: several variants of a run over the same photos, held against the first of them."""

from .comparing import AblationReport, Against, Behaviour, Row, compare_variants
from .page import ablation_page
from .plan import AblationPlan, begin_plan, read_plan
from .presets import PRESETS, Preset, preset
from .variants import SETTINGS, Axis, Variant, parse_vary, read_variants, variants_of
from .views import ablation_document, ablation_view

__all__ = [
    "PRESETS",
    "SETTINGS",
    "AblationPlan",
    "AblationReport",
    "Against",
    "Axis",
    "Behaviour",
    "Preset",
    "Row",
    "Variant",
    "ablation_document",
    "ablation_page",
    "ablation_view",
    "begin_plan",
    "compare_variants",
    "parse_vary",
    "preset",
    "read_plan",
    "read_variants",
    "variants_of",
]
