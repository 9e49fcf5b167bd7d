"""Words that say what kind of place a name is for and can go: "City", "Province of", "市", "Oblast".

Words that make a *different* place stay: a district or county is not the city that shares its name (Xian County is
far from Xi'an), and "New", "North", "Upper" belong to the name.
"""

import re
from functools import lru_cache
from typing import Final

_CITY_KINDS: Final = "city|town|village|municipality|metropolis|borough|commune|urban area|metropolitan area"
_CITY_BEFORE: Final = (
    "greater|metropolitan|metro|downtown|central|ville de|commune de|ciudad de|municipio de|villa de|cidade de|"
    "municipio do|municipio da|citta di|comune di|freie und hansestadt|freie hansestadt|hansestadt|landeshauptstadt|"
    "bundesstadt|kreisstadt|lutherstadt|universitatsstadt|stadt|gemeente|stad|miasto|mesto|hlavni mesto|obec|город|"
    "місто|г|град|kota|bandar|bandaraya|thanh pho|tp|lungsod ng"
)
_CITY_AFTER: Final = (
    "city|town|village|municipality|metropolis|metro|metropolitan|metropolitan area|metro area|metropolitan city|"
    "metropolitan municipality|metropolitan region|urban area|special city|special municipality|capital city|capital|"
    "prefecture|prefecture level city|municipal district|shi|shih|si|stadt|stad|kommun|kommune|by|ciudad|"
    "city centre|city center|dc|df|centre ville|old town"
)
_CITY_GLUED: Final = (
    "特别市",
    "特別市",
    "特別自治市",
    "직할시",
    "광역시",
    "특별자치시",
    "특별시",
    "市区",
    "市",
    "시",
    "都",
    "府",
    "県",
)

_REGION_KINDS: Final = (
    "state|free state|federal state|province|region|prefecture|oblast|canton|county|department|governorate|republic|"
    "territory|emirate|autonomous community|autonomous region|voivodeship|district|land"
)
_REGION_BEFORE: Final = (
    "estado|estado de|estado do|estado da|provincia|provincia de|provincia di|provincia del|province de|province du|"
    "departamento de|departamento del|departement de|departement du|region|region de|region de la|region del|regione|"
    "comunidad autonoma de|comunidad de|comunidad foral de|comunidade autonoma de|principado de|canton de|canton du|"
    "kanton|freistaat|land|bundesland|county|provinsi|propinsi|tinh|wojewodztwo|zupanija|kraj|область|республика|край"
)
_REGION_AFTER: Final = (
    "state|province|region|oblast|krai|kray|republic|prefecture|governorate|district|county|canton|territory|"
    "department|division|emirate|voivodeship|autonomous region|special administrative region|sar|"
    "autonomous prefecture|autonomous community|autonomous oblast|autonomous republic|metropolitan region|"
    "zhuang autonomous region|uyghur autonomous region|uygur autonomous region|hui autonomous region|"
    "federal district|raion|regency|zone|ken|fu|to|sheng|do|lan|fylke|maakunta|megye|kraj|zupanija|il|ili|tinh|"
    "область|обл|край|"
    "autonomous city"
)
_REGION_GLUED: Final = (
    "维吾尔自治区",
    "維吾爾自治區",
    "壮族自治区",
    "壯族自治區",
    "回族自治区",
    "回族自治區",
    "特别行政区",
    "特別行政區",
    "特別自治道",
    "특별자치도",
    "自治区",
    "自治區",
    "自治州",
    "省",
    "州",
    "県",
    "縣",
    "县",
    "府",
    "都",
    "道",
    "도",
)


_SAYS_CITY: Final = re.compile(r"^(?:the )?(?:city of|ciudad de|ville de|stadt) | (?:city|shi|stadt)$|..(?:市|시)$")


def _any_of(wordings: list[str]) -> str:
    # The longest goes first, or "autonomous region" would leave "autonomous" behind.
    return "|".join(sorted(set(wordings), key=lambda words: (-len(words), words)))


class _GenericWords:
    """One set of words, and how to take them off a folded name."""

    def __init__(self, kinds: str, before: str, after: str, glued: tuple[str, ...]) -> None:
        of = [f"{the}{kind} of{of_the}" for kind in kinds.split("|") for the in ("", "the ") for of_the in ("", " the")]
        self._before = re.compile(rf"^(?:{_any_of(before.split('|') + of)}) (?=\S)")
        self._after = re.compile(rf"(?<=\S) (?:{_any_of(after.split('|'))})$")
        self._glued = glued

    def without(self, folded: str) -> str:
        """The name less its generic words; a name that is nothing but generic words stays whole."""
        for _ in range(3):
            shorter = self._after.sub("", self._before.sub("", folded))
            for ending in self._glued:
                # One sign left over is no name: 京都 is Kyoto, not "京" and a word for prefecture.
                if shorter.endswith(ending) and len(shorter) - len(ending) >= 2:
                    shorter = shorter.removesuffix(ending)
                    break
            if shorter == folded:
                break
            folded = shorter
        return folded


_CITY = _GenericWords(_CITY_KINDS, _CITY_BEFORE, _CITY_AFTER, _CITY_GLUED)
_REGION = _GenericWords(_REGION_KINDS, _REGION_BEFORE, _REGION_AFTER, _REGION_GLUED)


@lru_cache(maxsize=1 << 14)
def without_city_words(folded: str) -> str:
    """A folded city name less "City", "Municipality", "Ville de", "市" and the like."""
    return _CITY.without(folded)


@lru_cache(maxsize=1 << 14)
def without_region_words(folded: str) -> str:
    """A folded region name less "Province", "State of", "Oblast", "省" and the like."""
    return _REGION.without(folded)


def says_city(folded: str) -> bool:
    """Whether a folded name calls itself a city, and so not the region of the same name."""
    return _SAYS_CITY.search(folded) is not None
