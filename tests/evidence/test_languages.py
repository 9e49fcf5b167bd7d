"""Languages of short signs: what the table of words makes of them, and what it costs."""

import pytest

from geosleuth.evidence.clue import TextSeen
from geosleuth.evidence.languages import get_number, language_findings, languages, likelihoods, shares_on_signs
from geosleuth.evidence.vocabulary import words_seen

SIGNS = {
    "fr": "Stationnement interdit sauf riverains", "de": "Ausfahrt bitte freihalten", "it": "Lavori in corso",
    "es": "Cuidado con el perro", "pt": "Proibido estacionar", "nl": "Verboden toegang", "sv": "Till salu",
    "fi": "Läpikulku kielletty", "et": "Parkimine keelatud", "lv": "Laipni lūdzam", "lt": "Sveiki atvykę",
    "pl": "Uwaga zły pies", "cs": "Lékárna, otevřeno denně",
    "hu": "Eladó ház", "ro": "De vânzare", "hr": "Zabranjen ulaz",
    "sl": "Prepovedan vstop", "sq": "Ndalohet hyrja", "tr": "Park yapılmaz", "az": "Xoş gəlmisiniz",
    "vi": "Kính chào quý khách", "id": "Dilarang parkir", "fil": "Maligayang pagdating", "sw": "Karibu sana",
    "ca": "Obert tots els dies", "eu": "Ongi etorri", "is": "Opið alla daga", "cy": "Dim parcio", "mt": "Għall-bejgħ",
    "ru": "Осторожно, злая собака", "uk": "Ласкаво просимо", "bg": "Добре дошли, хранителни стоки",
    "mk": "Се продава куќа",
    "kk": "Қош келдіңіз", "ar": "ممنوع الوقوف", "fa": "خوش آمدید", "ur": "برائے فروخت", "hi": "प्रवेश निषेध",
}  # fmt: skip


@pytest.mark.parametrize(("language", "text"), SIGNS.items())
def test_common_notices_are_read_in_their_language(language: str, text: str) -> None:
    scores, words = likelihoods(text)
    assert words
    assert languages()[int(scores.argmax())] == language


def test_accents_and_case_may_be_missing() -> None:
    for text in ("BOULANGERIE PATISSERIE", "OFFNUNGSZEITEN", "LAPIKULKU KIELLETTY"):
        assert words_seen(text)


def test_a_compound_is_known_by_its_end() -> None:
    assert words_seen("Mannerheimintie")[0].languages == {"fi"}
    assert "de" in words_seen("Bahnhofstrasse")[0].languages


def test_signs_of_a_country_are_in_its_languages_and_in_english() -> None:
    codes, shares = shares_on_signs()
    french, dutch, english = get_number("fr"), get_number("nl"), get_number("en")
    belgium, france = codes.index("BE"), codes.index("FR")
    assert french is not None
    assert dutch is not None
    assert english is not None
    assert shares[belgium, dutch] > shares[belgium, french] > 0.1
    assert shares[france, french] > 0.6
    assert (shares[:, english] >= 0.2).all()
    assert (shares.sum(axis=1) <= 1 + 1e-9).all()


def test_whole_sentences_in_english_speak_for_countries_that_speak_it() -> None:
    lines = [
        "In affectionate remembrance of", "also of Elizabeth, his wife", "who died in this parish",
        "erected by their children", "and by all who knew them",
    ]  # fmt: skip
    seen = [
        TextSeen(text, "image-1", (0.1, 0.1 * at, 0.9, 0.1 * at + 0.05), 0.95, "latin") for at, text in enumerate(lines)
    ]
    (prose,) = language_findings(seen)
    (notice,) = language_findings(seen[3:4])
    assert prose.sort == "language.prose"
    assert notice.sort == "language.english"
    assert prose.countries["CN"] < notice.countries["CN"]
    assert prose.countries["GB"] > notice.countries["GB"]
