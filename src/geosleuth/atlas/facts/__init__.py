"""Look up facts about countries, and the countries that clues point to: brands, phones, roads, scripts, and more.

Everything is read at first use from tables that ship with the package; nothing here needs the network.
"""

from .brands import BrandHit, brand, by_brand
from .countries import CountryFacts, Evidence, all_countries, country_facts, describe_climate, find_climate
from .documents import ZimDocuments, describe, search_documents
from .landmarks import Landmark, landmarks
from .lookups import (
    PhoneInfo,
    by_calling_code,
    by_currency,
    by_language,
    by_postcode,
    by_speed_unit,
    by_tld,
    phone,
)
from .roads import by_road_number
from .scripts import by_script, get_script

__all__ = [
    "BrandHit",
    "CountryFacts",
    "Evidence",
    "Landmark",
    "PhoneInfo",
    "ZimDocuments",
    "all_countries",
    "brand",
    "by_brand",
    "by_calling_code",
    "by_currency",
    "by_language",
    "by_postcode",
    "by_road_number",
    "by_script",
    "by_speed_unit",
    "by_tld",
    "country_facts",
    "describe",
    "describe_climate",
    "find_climate",
    "get_script",
    "landmarks",
    "phone",
    "search_documents",
]
