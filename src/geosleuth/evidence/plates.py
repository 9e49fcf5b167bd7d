"""Number plates: what form they have, and who uses it. Weak: cars travel, and many texts look like plates."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from geosleuth.support.lazy import lazy_pattern

from .clue import TextSeen
from .country_prior import by_how_common
from .text_clue import ClueDraft

_INDIAN_STATES = (
    "AN|AP|AR|AS|BR|CG|CH|DD|DL|DN|GA|GJ|HP|HR|JH|JK|KA|KL|LA|LD|MH|ML|MN|MP|MZ|NL|OD|OR|PB|PY|RJ|SK|TN|TR|TS|UK|UP|WB"
)
_CHINESE_PROVINCES = {
    "京": "Beijing", "津": "Tianjin", "沪": "Shanghai", "渝": "Chongqing", "冀": "Hebei", "豫": "Henan", "云": "Yunnan",
    "辽": "Liaoning", "黑": "Heilongjiang", "湘": "Hunan", "皖": "Anhui", "鲁": "Shandong", "新": "Xinjiang",
    "苏": "Jiangsu", "浙": "Zhejiang", "赣": "Jiangxi", "鄂": "Hubei", "桂": "Guangxi", "甘": "Gansu", "晋": "Shanxi",
    "蒙": "Inner Mongolia", "陕": "Shaanxi", "吉": "Jilin", "闽": "Fujian", "贵": "Guizhou", "粤": "Guangdong",
    "青": "Qinghai", "藏": "Tibet", "川": "Sichuan", "宁": "Ningxia", "琼": "Hainan",
}  # fmt: skip
_CHINESE = "".join(_CHINESE_PROVINCES)


class PlateForm(NamedTuple):
    """A pattern for the whole text, the countries whose ordinary plates fit it, and how much trust it deserves."""

    pattern: re.Pattern[str]
    countries: str
    factor: float = 1.0


# Formats of ordinary car plates, written by hand; not complete.
FORMS = tuple(
    PlateForm(lazy_pattern(pattern), countries, factor)
    for pattern, countries, factor in (
        (r"[A-HJ-NP-TV-Z]{2}-\d{3}-[A-HJ-NP-TV-Z]{2}", "FR", 1.5),
        (r"[A-HJ-NPR-TV-Z]{2} ?\d{3} ?[A-HJ-NPR-TV-Z]{2}", "IT FR AR AL", 1.0),
        (r"[12]-[A-Z]{3}-\d{3}", "BE", 1.8),
        (r"[A-Z]{2}\d{2} ?[A-Z]{3}", "GB", 1.0),
        (r"\d{2,3}-[A-Z]{1,2}-\d{1,6}", "IE", 1.2),
        (r"\d{4} ?[BCDFGHJKLMNPRSTVWXYZ]{3}", "ES", 1.2),
        (r"[A-Z]{3}-\d{1,3}", "FI HU SE CO PE", 0.7),
        (r"[A-Z]{3} ?\d{3}", "SE LT CY MT AR CO AU NZ GR", 0.4),
        (r"\d{3} ?[A-Z]{3}", "EE AU", 0.8),
        (r"[A-Z]{2} ?\d{2} ?\d{3}", "DK", 0.7),
        (r"[A-Z]{2} ?\d{5}", "NO", 0.7),
        (r"[B-GK-PR-TWZ][A-Z]{1,2} ?(?:\d{5}|\d{4}[A-Z]|\d{3}[A-Z]{2})", "PL", 0.7),
        (r"[A-ZÄÖÜ]{1,3}[-: ][A-Z]{1,2} ?\d{1,4}[EH]?", "DE", 0.7),
        (r"\d{2}-[A-Z]{3}-\d|[A-Z]{2}-\d{3}-[A-Z]|\d-[A-Z]{3}-\d{2}", "NL", 1.5),
        (r"[A-Z]-\d{3}-[A-Z]{2}|\d{2}-[A-Z]{2}-[A-Z]{2}", "NL", 1.5),
        (r"(?:0[1-9]|[1-7]\d|8[01]) ?[A-Z]{1,3} ?\d{2,4}", "TR", 0.7),
        (r"[АВЕКМНОРСТУХ]\d{3}[АВЕКМНОРСТУХ]{2} ?\d{2,3}", "RU", 1.8),
        (r"[ABEKMHOPCTYX]\d{3}[ABEKMHOPCTYX]{2} ?\d{2,3}", "RU", 1.2),
        (r"[ABCEHIKMOPTX]{2} ?\d{4} ?[ABCEHIKMOPTX]{2}", "UA BG", 1.2),
        (r"[A-Z]{3}\d[A-J]\d{2}", "BR", 1.2),
        (r"[A-Z]{4}[-· ]\d{2}", "CL", 0.8),
        (rf"(?:{_INDIAN_STATES})[ -]?\d{{1,2}}[ -]?[A-Z]{{1,3}}[ -]?\d{{4}}", "IN", 1.8),
        (rf"[{_CHINESE}][A-Z][·. ]?[A-Z0-9]{{5,6}}", "CN", 2.0),
        (r"\d{2,3}[가-힣] ?\d{4}", "KR", 2.0),
        (r"\d{2}-\d{3}-\d{2}|\d{3}-\d{2}-\d{3}", "IL", 0.6),
        (r"[A-Z]{3}-\d{4}", "TW GR", 0.8),
        (r"S[A-Z]{2} ?\d{1,4} ?[A-Z]", "SG", 1.2),
        (r"(?:B|[A-Z]{2}) ?\d{2,3} ?[A-Z]{3}", "RO", 0.6),
        (r"[A-Z]{3}-\d{3}-[A-Z]", "MX", 1.2),
    )
)  # fmt: skip


def looks_like_plate(text: str) -> bool:
    """Return whether a text has the form of some country's plates."""
    return any(form.pattern.fullmatch(text.strip()) for form in FORMS)


def plate_findings(lines: Sequence[TextSeen]) -> list[ClueDraft]:
    """One finding for each line that is a plate and nothing else."""
    found = []
    for seen in lines:
        text = " ".join(seen.text.split())
        forms = [form for form in FORMS if form.pattern.fullmatch(text)]
        if not forms:
            continue
        common: dict[str, float] = {}
        for form in forms:
            for code in form.countries.split():
                common[code] = max(common.get(code, 0.0), form.factor)
        factor = max(form.factor for form in forms)
        province = _CHINESE_PROVINCES.get(text[0])
        meaning = f"form of a number plate of {province}" if province else "form of a number plate"
        found.append(ClueDraft("plate", "plate", text, meaning, by_how_common(common), seen, ("plate forms",), factor))
    return found
