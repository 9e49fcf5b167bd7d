"""Ablations: several variants of a run over the same photos, compared with the first."""

from .ablation_page import ablation_page
from .comparison import AblationReport, ablation_document, ablation_view, compare_variants
from .variants import (
    PRESETS,
    SETTINGS,
    AblationPlan,
    Preset,
    Variant,
    begin_plan,
    parse_vary,
    preset,
    read_plan,
    read_variants,
    variants_of,
)

__all__ = [
    "PRESETS",
    "SETTINGS",
    "AblationPlan",
    "AblationReport",
    "Preset",
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
