"""Recognize scripts and distinctive letters of a text, and find the countries that use them.

The tables are written by hand and incomplete.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache

from .countries import CountryFacts, Evidence, all_countries, compute_shares

# ISO 15924 script code by prefix of the Unicode character name: the Unicode Character Database names characters by
# script.
SCRIPT_OF_NAME = (
    ("LATIN ", "Latn"), ("FULLWIDTH LATIN", "Latn"), ("CYRILLIC ", "Cyrl"), ("ARABIC ", "Arab"), ("CJK ", "Hani"),
    ("HIRAGANA", "Hira"), ("KATAKANA", "Kana"), ("HALFWIDTH KATAKANA", "Kana"), ("HANGUL", "Hang"),
    ("HALFWIDTH HANGUL", "Hang"), ("BOPOMOFO", "Bopo"), ("GREEK ", "Grek"), ("HEBREW ", "Hebr"), ("THAI ", "Thai"),
    ("LAO ", "Laoo"), ("KHMER ", "Khmr"), ("MYANMAR ", "Mymr"), ("TIBETAN ", "Tibt"), ("DEVANAGARI ", "Deva"),
    ("BENGALI ", "Beng"), ("GURMUKHI ", "Guru"), ("GUJARATI ", "Gujr"), ("ORIYA ", "Orya"), ("TAMIL ", "Taml"),
    ("TELUGU ", "Telu"), ("KANNADA ", "Knda"), ("MALAYALAM ", "Mlym"), ("SINHALA ", "Sinh"), ("THAANA ", "Thaa"),
    ("GEORGIAN ", "Geor"), ("ARMENIAN ", "Armn"), ("ETHIOPIC ", "Ethi"), ("MONGOLIAN ", "Mong"), ("TIFINAGH ", "Tfng"),
    ("CHEROKEE ", "Cher"), ("CANADIAN SYLLABICS", "Cans"), ("OL CHIKI ", "Olck"), ("MEETEI MAYEK ", "Mtei"),
    ("NKO ", "Nkoo"), ("VAI ", "Vaii"), ("ADLAM ", "Adlm"), ("SYRIAC ", "Syrc"), ("YI ", "Yiii"), ("JAVANESE ", "Java"),
    ("BALINESE ", "Bali"), ("SUNDANESE ", "Sund"), ("COPTIC ", "Copt"), ("CHAKMA ", "Cakm"), ("LIMBU ", "Limb"),
    ("TAI LE ", "Tale"), ("NEW TAI LUE ", "Talu"),
)  # fmt: skip

_SHARED = {
    "ß": "de", "ő": "hu", "ű": "hu", "ł": "pl", "ą": "pl lt", "ę": "pl lt", "ś": "pl", "ź": "pl", "ń": "pl",
    "ż": "pl mt", "ć": "pl hr bs sr", "ř": "cs", "ů": "cs", "ě": "cs", "ľ": "sk", "ĺ": "sk", "ŕ": "sk", "ď": "cs sk",
    "ť": "cs sk", "ň": "cs sk tk", "ý": "cs sk is fo vi tk", "ğ": "tr az", "ı": "tr az", "ş": "tr az ro tk ku",
    "ţ": "ro", "ț": "ro", "ș": "ro", "ă": "ro vi", "ə": "az", "đ": "hr bs sr vi se", "ơ": "vi", "ư": "vi",
    "ħ": "mt", "ġ": "mt", "ċ": "mt", "ð": "is fo", "þ": "is", "æ": "da nb nn no is fo", "ø": "da nb nn no fo",
    "å": "sv nb nn no da fi", "ñ": "es gl eu fil qu gn ay", "¿": "es gl", "¡": "es gl", "ã": "pt vi gn",
    "õ": "pt et vi gn",
    "ķ": "lv", "ļ": "lv", "ņ": "lv", "ģ": "lv", "ī": "lv", "ė": "lt", "į": "lt", "ų": "lt", "ū": "lt lv mi", "ŵ": "cy",
    "œ": "fr", "ï": "fr nl ca", "ÿ": "fr", "û": "fr tr cy", "ž": "cs sk sl hr bs sr lt lv et tk", "ā": "lv mi haw",
    "č": "cs sk sl hr bs sr lt lv se", "š": "cs sk sl hr bs sr lt lv et", "ŋ": "se", "ʻ": "haw to sm",
    "ї": "uk", "є": "uk", "ґ": "uk", "і": "uk be kk", "ў": "be uz", "ђ": "sr", "ћ": "sr", "ј": "sr mk", "љ": "sr mk",
    "њ": "sr mk", "џ": "sr mk", "ѓ": "mk", "ќ": "mk", "ѕ": "mk", "ә": "kk tt", "ғ": "kk tg uz", "қ": "kk tg uz",
    "ұ": "kk", "ө": "mn kk ky tt", "ү": "mn kk ky tt", "ң": "kk ky tt", "ҳ": "tg uz", "ҷ": "tg", "ӣ": "tg", "ӯ": "tg",
    "ы": "ru be kk ky mn tt", "э": "ru be kk ky mn tg tt uz", "ё": "ru be kk ky mn tg tt uz",
    "پ": "fa ur ps ckb sd ug prs ks", "چ": "fa ur ps ckb sd ug prs ks", "ژ": "fa ur ps ckb ug prs ks",
    "گ": "fa ur ps ckb sd ug prs ks", "ٹ": "ur pa ks", "ڈ": "ur pa ks", "ڑ": "ur pa ks", "ے": "ur pa ks",
    "ډ": "ps", "ړ": "ps", "ښ": "ps", "ې": "ps ug", "ێ": "ckb", "ۆ": "ckb ug", "ڕ": "ckb", "ڵ": "ckb",
    "ة": "ar", "أ": "ar ur ps", "إ": "ar",
}  # fmt: skip

_VIETNAMESE = "ạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"

# Distinctive letters and the ISO 639 codes of the few languages that use them, taken from the alphabets themselves.
DISTINCTIVE_LETTERS = {**_SHARED, **dict.fromkeys(_VIETNAMESE, "vi")}

SIMPLIFIED_ONLY = frozenset(
    "们这个为时对说发经现过还进样车东书长门问间见马鸟鱼龙风飞电话语请谢谁让认识读买卖红银铁钱钟头质贵费资贸购运远"
    "迟选适产业专严丰临义乐习乡云亚亿仅从众优传伤伦价华协单卫厂厅历压县变听员响园围图团圆场坏块坚处备复够夺奖妇妈"
    "娱孙宁实审宾导尔尘尝层岁岛币师带帮庆库应废开异张弹归录忆态总战户扩扫报护拥择损换据无术权极构标树桥检欢气汉汤"
    "沟泪泽洁测济浏润涨热烦烧爱牵狱猎环疗监盖盘码矿确离种积穷笔签简粮紧纪约级纯纸线组细织终绍结给络统继续维综罗职"
    "联胜脑艺节药营蓝虽补规视览觉订计讨训议记许论设访证评词试详误课调谈谊贝财责败货贯贡赛赞赵趋跃轨转轮软轻载较输"
    "辆达迁迈递遗邮邻释钢铃错镇镜闭闲闻阅阳阶际陆陈险隐难顶项顺须顾预领频题颜额饭饮馆驾验鲜鸡齐龄"
)
# Characters found only in simplified or only in traditional Chinese, and not in Japanese; the most common ones on
# signs.
TRADITIONAL_ONLY = frozenset(
    "們這來對說發經讓讀賣鐵錢遲專嚴豐樂眾價單廠廳歷壓縣雙變號聽圍圖團圓壞獎寶實歲帶幫莊應廢彈歸當錄戀戰戶擴擔擇據"
    "歡歐氣淚澤濟燒獨獵稱簽臺灣國學區銷檢樓權條產"
)


# Longer texts are truncated; the shares of scripts converge long before.
MAX_TEXT_CHARS = 5000

# Minimum share of letters at which a script other than Latin decides: signs everywhere have Latin words.
SIGNIFICANT_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Writing:
    """The scripts and distinctive letters of a text.

    ``scripts`` are shares of its letters by ISO 15924 code (``Hani`` for characters that Chinese, Japanese and Korean
    share). ``languages`` are those whose alphabets have all of the ``telling_letters``, empty if there are no such
    letters. ``evidence`` are the countries of both, weighted by the people who use them.
    """

    scripts: Mapping[str, float] = field(hash=False)
    telling_letters: str
    languages: tuple[str, ...]
    evidence: Evidence


def by_script(text: str) -> Writing:
    """Return the scripts of a text with their shares, and the countries that use them.

    Kana means Japanese and hangul Korean even among Chinese characters; characters that only simplified or only
    traditional Chinese has distinguish the two. Accented and special letters narrow Latin, Cyrillic and Arabic down to
    languages (``ő`` is Hungarian). Countries are weighted by the people who use the script there in a language with
    legal status, as such languages are the ones on signs.
    """
    text = unicodedata.normalize("NFC", text[:MAX_TEXT_CHARS])
    letters = Counter(script for character in text if (script := get_script(character)) is not None)
    total = sum(letters.values())
    scripts = {script: count / total for script, count in sorted(letters.items(), key=lambda item: (-item[1], item[0]))}
    if not total:
        return Writing({}, "", (), Evidence("script", "", {}, "no letters of any script"))
    telling, languages = _telling(text)
    deciding = _deciding_scripts(scripts, text)
    weights = _people_by_country(deciding, languages)
    if not weights:
        weights, languages, telling = _people_by_country(deciding, ()), (), ""
    clue = "+".join(deciding)
    note = f"people who write {', '.join(deciding)}" + (
        f"; letters {telling} of {', '.join(languages)}" if telling else ""
    )
    return Writing(
        scripts, telling, languages, Evidence("script", clue, compute_shares(weights), note, "people who write so")
    )


@lru_cache(maxsize=1 << 14)
def get_script(character: str) -> str | None:
    """Return the ISO 15924 code of a letter's script; None if it is not a letter, or its script not in the table."""
    if not character.isalpha():
        return None
    name = unicodedata.name(character, "")
    return next((code for prefix, code in SCRIPT_OF_NAME if name.startswith(prefix)), None)


def _deciding_scripts(scripts: Mapping[str, float], text: str) -> tuple[str, ...]:
    """Return the scripts that decide, by CLDR's codes: Jpan, Kore, Hans and Hant in place of their parts."""
    if scripts.keys() & {"Hira", "Kana"}:
        return ("Jpan",)
    if "Bopo" in scripts:
        return ("Hant",)
    others = {script: share for script, share in scripts.items() if script != "Latn"}
    if sum(others.values()) < SIGNIFICANT_SHARE:
        return ("Latn",)
    found = []
    for script in others:
        if script == "Hang":
            found.append("Kore")
        elif script == "Hani" and "Hang" not in scripts:
            found.extend(_chinese(text))
        elif script != "Hani":
            found.append(script)
    return tuple(dict.fromkeys(found))


def _chinese(text: str) -> tuple[str, ...]:
    simplified = sum(character in SIMPLIFIED_ONLY for character in text)
    traditional = sum(character in TRADITIONAL_ONLY for character in text)
    if simplified > traditional:
        return ("Hans",)
    if traditional > simplified:
        return ("Hant",)
    return ("Hans", "Hant", "Jpan")


def _telling(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the distinctive letters of a text, and the languages that have all of them."""
    present = [letter for letter in dict.fromkeys(text.lower()) if letter in DISTINCTIVE_LETTERS]
    if not present:
        return "", ()
    languages = set.intersection(*(set(DISTINCTIVE_LETTERS[letter].split()) for letter in present))
    return ("".join(present), tuple(sorted(languages))) if languages else ("", ())


def _people_by_country(scripts: tuple[str, ...], languages: tuple[str, ...]) -> dict[str, float]:
    """Return how many people use the scripts in each country, in some languages or, if there are none, in any."""
    people: dict[str, float] = defaultdict(float)
    for script in scripts:
        for code, by_language in _writers().get(script, {}).items():
            chosen = [count for language, count in by_language.items() if not languages or language in languages]
            if chosen:
                people[code] += min(sum(chosen), all_countries()[code].population or 1)
    return dict(people)


@cache
def _writers() -> dict[str, dict[str, dict[str, float]]]:
    found: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for country in all_countries().values():
        for language, script, people in _list_expected_scripts(country):
            found[script][country.code][language] = people
    return {script: dict(countries) for script, countries in found.items()}


def _list_expected_scripts(country: CountryFacts) -> list[tuple[str, str, float]]:
    """Return language, script and number of people of the languages with legal status, or else of the first."""
    expected = [language for language in country.languages if language.status] or list(country.languages[:1])
    people = max(country.population, 1)
    return [(language.code, language.script, max(people * (language.percent or 0) / 100, 1.0)) for language in expected]
