"""Country, region, city, address and point of any reply, by rule: objects and labels first, then prose.

Prose is read as phrases, runs of words that begin as names do, and the words between them. "Schöneberger Straße, 22149
Hamburg, Germany" is a chain of three; in "a shop on Clonliffe Road in Dublin's north" the words between say what lies
in what. Countries and cities are known from tables, regions from a list or by what they call themselves, and addresses
by their words or because they stand in a city. A sentence that concludes counts more than one that lists what could be;
one that says the place can't be told counts nothing.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise

from geosleuth.answer import Address, Answer, parse_lenient
from geosleuth.answer.parse import extract_prose
from geosleuth.geo import LatLon
from geosleuth.names.cities import cities_called, is_listed_region, same_city, without_region_words
from geosleuth.names.country_names import cities_by_country, country_code, country_name
from geosleuth.names.folding import compact, fold

# Maximum characters at the end of a reply that are read as prose.
_MAX_PROSE_CHARS = 12_000

_MAX_WORDS = 6
_LARGE = 100_000
_LONGEST_NAME = 100
# Weight of a city's name inside another name: it may be the city's own street, or one elsewhere.
_PARTIAL_NAME_WEIGHT = 0.3

_BREAK = re.compile(r"(?<=[.!?。！？])[”\"')\]]*\s+(?=[^a-z])|(?<=[。！？])")
_ABBREVIATED = re.compile(r"\b(?:St|Ave|Blvd|Rd|Dr|No|Mt|ul|Av|Str|e\.g|i\.e|approx|vs|[A-Z])\.$")
_MARKUP = re.compile(r"[*_`#>|]+")
_WORD = re.compile(r"[^\s,;:()\[\]{}<>\"“”„«»—–（），、；：。!?！？…=/]+|[,;:()\[\]（），、；：/]|[\"“”„«»—–]")
_CASELESS = re.compile(r"[\u0590-\u0e7f\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_INNER = frozenset(
    """
    de la le les du des del della dei degli da do dos das di von van vom zum zur der den dem al el of the sur am an im
    los las lo delle dello degli nel nella sur sous upon ter zur auf ten
    y e i ng na nad pod und et & repülőtérre vezető út
    """.split()  # noqa: SIM905
)
_CONCLUDES = re.compile(
    r"\b(?:final|answer|conclu\w+|therefore|thus|hence|best (?:guess|estimate|match|fit)|best-?guess|estimate\w*|likely"
    r"|plausible|probabl\w+|confiden\w+|identif\w+|located|location|situated|address|place[sd]?|taken|specifically"
    r"|this is|appears to be|must be|pinpoint\w*|match(?:es)?|given|chosen|coordinates|unmistakably|clearly"
    r"|standort|aufgenommen|adresse|liegt|ort|lieu|situe\w*|prise|ubicaci\w+|tomada|situad\w+|kuvattu|sijaitsee)\b"
    r"|位于|位於|拍摄|拍攝|地点|地點|地址|撮影|場所|住所|答案",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:such as|for example|e\.g|cities like|city like|places like|areas like|another possibility|alternatively"
    r"|rather than|instead of|unlike|other than|not in|could also|might also|whether|similar to|resembl\w+|reminiscent"
    r"|elsewhere|also found|many cities|common in|founded in|based in|headquarter\w*|compared with)\b",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"\b(?:can(?:no|['’])?t|cannot|could ?n[o'’]t|unable to|not able to|impossible to|(?:do|does|did)(?: not|n['’]t)"
    r"|not possible|no way to|insufficient|won['’]t)\b[^.;]{0,60}"
    r"\b(?:determine|identify|know|locate|tell|pinpoint|say|assist|help|geolocat\w+|provide|recogni[sz]e|place)\b"
    r"|\b(?:i['’]m sorry|i am sorry|unknown location|location unknown)\b|无法(?:确定|判断|识别)|不能确定",
    re.IGNORECASE,
)
_ANYWAY = re.compile(r"\b(?:but|however|nevertheless|still|so (?:i|the|my)|best)\b|但", re.IGNORECASE)
# Phrases that introduce an answer: "Answer:", "My best guess (low confidence):".
_ANSWER_PHRASES = re.compile(
    r"^\W*(?:[\w’'-]+ ){0,4}?(?:answer|guess|location|place|conclusion|estimate|identification|address)"
    r"(?: \w+){0,2}(?: ?\([^)\n]{0,40}\))?\s*[:：]\s*",
    re.IGNORECASE,
)

_ENDS_ADDRESS = re.compile(
    r"\b(?:because|since|as|match\w*|based|suggest\w*|typical\w*|resembl\w*|shows?|with|where|which|features?|looks?"
    r"|appears?|indicat\w*|given|is|are|was|has|during|due|judging|consistent)\b",
    re.IGNORECASE,
)
# Words before something seen from the place, or an alternative to it; it is not part of the address.
_NON_ADDRESS_PHRASES = re.compile(
    r"\b(?:looking|view(?:s|ed|ing)?|facing|towards?|leading|across|from|behind|or|like|distance|than|not)\b",
    re.IGNORECASE,
)

_STARTS_ADDRESS = re.compile(r"\b(?:taken|shot|photographed|captured|guess|answer|prise|tomada|tirada|scattata)\b")
_GOES_ON = re.compile(r"[,;:(—–/]|(?:^|\s)(?:in|at|near|of|on|by|along|around|within|to)(?:\s(?:the|a|an))?$")
_MAX_PARTS = 6
_KINDS = re.compile(
    r"\b(?:province|state|prefecture|oblast|krai|governorate|canton|voivodeship|county|region)\b", re.IGNORECASE
)
_STREET = re.compile(
    r"\b(?:street|st|road|rd|avenue|ave|boulevard|blvd|lane|drive|highway|hwy|freeway|fwy|parkway|place|square|rue|quai"
    r"|via|viale|piazza|calle|avenida|carrer|paseo|plaza|rua|praca|largo|ul|ulica|ulitsa|utca|trg|allee|chemin|cours"
    r"|weg|platz|ring|jalan|soi|thanon|caddesi|sokak|namesti)\b|\w{3,}(?:strasse|gasse|platz|damm|ufer|weg|allee|ring"
    r"|wall|straat|laan|gracht|plein|kade|gatan|vagen|gata|veien|gaten|vej|gade|katu|kuja|aukio|tori|tie|esplanadi)\b"
    r"|\w(?:路|街|巷|大道|胡同|丁目|通り|号)"
)
_FINE = re.compile(
    r"\b(?:district|quarter|neighbou?rhood|park|museum|castle|palace|temple|church|cathedral|mosque|tower|bridge|station"
    r"|hotel|mall|plaza|centre|center|market|mountain|harbou?r|waterfront|beach|island|gaol|hospital|university|campus"
    r"|club|headquarters|building|house|hall|hill|town|village|city|complex|area|community|zone|garden|library|gallery"
    r"|stadium|airport|port|arrondissement|pavilion|supermarket|restaurant|lake|bazaar)\b|(?:区|區|寺|庙|馆|站|大厦|公园)$",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"[“\"„«]$")
_QUARTER = re.compile(r"^(?:district|area|neighbou?rhood|quarter|zone|community|suburb|section)s?\b")
_QUARTER_OF = re.compile(
    r"(?:district|quarter|area|neighbou?rhood|ward|borough|arrondissement|town|centre|center)$", re.IGNORECASE
)
_NUMBERED = re.compile(r"(?:^|\s)\d{1,5}[a-z]?(?:$|\s)", re.IGNORECASE)
_POSTCODE = re.compile(r"^\d{4,6}$|^[A-Z]{1,2}\d[\dA-Z]?$|^\d[A-Z]{2}$")
_STEP = re.compile(
    r".{2,}?(?:特别行政区|特別行政區|自治区|自治區|省|市|县|縣|県|郡|区|區|镇|鎮|街道|社区|路|街|大道|町|村|都|府|号|$)"
)
_NATIONS = frozenset({"england", "scotland", "wales", "northern ireland"})
_ADJECTIVE = re.compile(
    r"(?:ese|speaking|style|branded|inspired|themed|[a-z]ian|turkish|british|spanish|german|french|thai)$"
)
_CITY_STATES = frozenset({"SG", "MC", "VA", "HK", "MO"})
_CODES = frozenset({"UK", "USA", "US", "UAE", "PRC", "U.S.", "U.K.", "U.S.A.", "ROC"})
# Words that begin sentences and are not names.
_OPENERS = frozenset(
    """
    the this that these those it its i a an my given based however without since because looking searching after key
    final best while from there here also no among taken therefore combining likely probably possibly perhaps most maybe
    outside inside near along around at on in somewhere just
    """.split()  # noqa: SIM905
)

_NO_PLACE = _OPENERS | frozenset(
    """
    answer reasoning clues city country latitude longitude lat lon location place address state province region google
    street view photo image road district coordinates gaode amap json
    """.split()  # noqa: SIM905
)

_INTO = re.compile(
    r"(?:^|\s)(?:in|of|at|within|near|off|on|,|，|\()(?:\s(?:the|its|downtown|central|north|south|east|west|heart|centre"
    r"|center|city|old|historic|capital|area|district|of|in|a|street|neighbou?rhood))*$"
)
_LONGEST_LINK = 60
_MIN_ADDRESS = 1.9
_LEADS = re.compile(
    r"(?:^|\s)(?:in|on|at|near|around|along|is|of|from|off|to|as|:|—|be|inside|outside|opposite)(?:\s(?:the|a|an))?$"
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """Names that a reply states for the place; None where it states none."""

    country: str | None = None
    region: str | None = None
    city: str | None = None
    address: str | None = None
    point: LatLon | None = None

    def __bool__(self) -> bool:
        """Return whether anything was found."""
        return any((self.country, self.region, self.city, self.address, self.point))

    def to_address(self) -> Address:
        """Return the names as an answer has them: the precise place is the address in its city."""
        fine = [item for item in (self.address, self.city) if item]
        if len(fine) == 2 and fold(fine[1]) in fold(fine[0]):
            fine = fine[:1]
        return Address.create(self.country, self.region, ", ".join(fine) or None)


@dataclass(slots=True)
class _Phrase:
    """Words that may form a name, with the words before and after them."""

    text: str
    link: str
    behind: str = ""
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = fold(self.text)


@dataclass(frozen=True, slots=True)
class _Sentence:
    phrases: tuple[_Phrase, ...]
    weight: float
    hedged: bool
    latin: bool
    length: int
    answers: bool
    """Whether it is announced as the answer."""


def read_reply(text: str) -> Answer:
    """Return the answer of a reply as the lenient parser has it; where that names no place, the prose's names.

    A reply that names places in an object or by labels says by itself which are its answer.
    """
    answer = parse_lenient(text)
    if answer.address:
        return answer
    sentences = list(_sentences(extract_prose(text)[-_MAX_PROSE_CHARS:]))
    return replace(answer, address=_find_written_address(sentences) or extract(text).to_address())


def extract(text: str) -> Extracted:
    """Return country, region, city, address and point of a reply, by rule alone. Any text is accepted."""
    answer = parse_lenient(text)
    labelled = _parse_labelled(answer.address)
    sentences = list(_sentences(extract_prose(text)[-_MAX_PROSE_CHARS:]))
    country = labelled.country or _vote_country(sentences)
    code = country_code(country) if country else None
    city = labelled.city or _city(sentences, code) or (country if code in _CITY_STATES else None)
    if country is None and city is not None and (places := cities_called(city)):
        country = country_name(_get_city_country(places[0].geoname_id))
        code = country_code(country)
    region = labelled.region or _region(sentences, code, city)
    address = labelled.address or _address(sentences, code, (city, region, country))
    return Extracted(country, region, city, address, answer.point)


def _parse_labelled(said: Address) -> Extracted:
    """Return the address that objects and labels name; "12 Rue Grimaldi, 98000 Monaco, Monaco" may follow any of them.

    A sentence behind a colon is no name.
    """
    country, region, precise = (
        None if name is None or _is_sentence(name) else name
        for name in (said.country.conclusion, said.region.conclusion, said.precise.conclusion)
    )
    parts = [part.strip() for part in (precise or "").split(",") if part.strip()]
    if len(parts) > 1 and _find_named_country(parts[-1]) and (country is None or country_code(country) is not None):
        country = country or parts[-1]
        parts = parts[:-1]
    code = country_code(country) if country else None
    if len(parts) > 1 and _is_region(parts[-1], code) and not _people(parts[-1], code):
        region = region or _without_numbers(parts.pop())
    fine = [] if not parts or any(map(str.isalpha, parts[-1])) else [parts.pop()]
    if len(parts) == 1 and _STREET.search(fold(parts[0])) and _NUMBERED.search(parts[0]):
        fine, parts = [*parts, *fine], []
    city = _without_numbers(parts.pop()) if parts else None
    return Extracted(country, region, city, ", ".join([*parts, *fine]) or None)


def _is_sentence(name: str) -> bool:
    return len(name) > _LONGEST_NAME or re.search(r"\.\s|\d\.\d|\b(?:is|are|which|the|in)\b.*\s\w", name) is not None


# Sentences and phrases.


def _sentences(prose: str) -> Iterator[_Sentence]:
    joined: list[str] = []
    for line in _MARKUP.sub(" ", prose).splitlines():
        at = len(joined)
        for piece in filter(str.strip, _BREAK.split(line)):
            if len(joined) > at and _ABBREVIATED.search(joined[-1]):
                joined[-1] += f" {piece}"
            else:
                joined.append(piece)
    announced = False
    for at, written in enumerate(joined):
        sentence = _ANSWER_PHRASES.sub("", written, count=1)
        announced, answers = not sentence.strip(), announced or sentence != written
        refused = _REFUSES.search(written)
        if refused and not _ANYWAY.search(written[refused.end() :]):
            continue
        hedged = _HEDGES.search(sentence) is not None
        weight = 1.0 + (at + 1) / len(joined) + 1.5 * bool(_CONCLUDES.search(written)) - 1.5 * hedged
        latin = sum(map(str.isascii, sentence)) > len(sentence) / 2
        yield _Sentence(tuple(_phrases(sentence)), max(0.1, weight), hedged, latin, len(sentence), answers)


def _phrases(sentence: str) -> list[_Phrase]:
    found: list[_Phrase] = []
    words: list[str] = []
    inner: list[str] = []
    link: list[str] = []

    def end() -> None:
        """End the phrase; words that could have gone on inside it belong to what is behind."""
        nonlocal words, inner, link
        while words and fold(words[0]) in _OPENERS:
            link.append(words.pop(0))
        if words:
            if found:
                found[-1].behind = " ".join(link)
            found.extend(_split_phrase(" ".join(words), " ".join(link)))
            link = []
        link, words, inner = [*link, *inner], [], []

    for token, following in pairwise([*_WORD.findall(sentence), ""]):
        own = re.fullmatch(r"(.+?)['’‘]s", token)
        word = (own[1] if own else token).strip(".'’‘") or token
        if _is_name_word(word):
            goes_on = own is not None and _is_one_name(" ".join([*words, *inner, word]), following)
            words, inner = [*words, *inner, token if goes_on else word], []
            if own and not goes_on:
                inner = ["'s"]
                end()
        elif words and token in _INNER:
            inner.append(token)
        else:
            end()
            link.append(token)
    end()
    if found:
        found[-1].behind = " ".join(link)
    return found


def _is_name_word(word: str) -> bool:
    first = word.split("’", 1)[-1].split("'", 1)[-1][:1] or word[0] if len(word) > 2 and word[1] in "'’" else word[0]
    return first.isupper() or first.isdigit() or (first == "#" and word[1:].isdigit()) or bool(_CASELESS.match(word))


def _is_one_name(owner: str, following: str) -> bool:
    """Return whether "St Paul's Cathedral" is a single name; "London's Hyde Park" is two."""
    if not following or not _is_name_word(following):
        return False
    return bool(_FINE.fullmatch(fold(following))) or (
        _find_named_country(owner) is None and _people(owner, None) <= _LARGE
    )


def _split_phrase(text: str, link: str) -> Iterator[_Phrase]:
    """Yield a phrase; text written without spaces is cut into its steps, the finest first: 江苏省苏州市平江路."""
    if not _HAN.fullmatch(text) or len(text) < 4:
        quarter, of, city = text.rpartition(" of ")
        if of and _QUARTER_OF.search(quarter):
            yield from (_Phrase(quarter, link, of.strip()), _Phrase(city, of.strip()))
        else:
            yield _Phrase(text, link)
        return
    starts = ((at, end) for at in range(len(text) - 1) for end in range(min(at + 6, len(text)), at + 1, -1))
    at, end = next(((at, end) for at, end in starts if country_code(text[at:end])), (0, 0))
    steps = [*([text[at:end]] if end else []), *_STEP.findall(text[end:])]
    for step in reversed(steps):
        yield _Phrase(step, link)
        link = ","


# What phrases are.


@lru_cache(maxsize=1 << 14)
def _find_named_country(text: str) -> str | None:
    """Return the country that a phrase names by itself or after other words; a code only where codes are usual."""
    words = text.split()
    for start in range(max(0, len(words) - _MAX_WORDS), len(words)):
        name = " ".join(words[start:])
        if len(name.strip(".")) <= 3 and name not in _CODES and not _CASELESS.match(name):
            continue
        code = country_code(name)
        if code is not None and (start == 0 or cities_called(" ".join(words[:start]), code)):
            return code  # "Paris France", but not "Plaza Francia"
    return None


@lru_cache(maxsize=1)
def _countries_of_cities() -> dict[int, str]:
    return {city.geoname_id: code for code, cities in cities_by_country().items() for city in cities}


def _get_city_country(geoname_id: int) -> str:
    return _countries_of_cities()[geoname_id]


def _is_region(text: str, code: str | None) -> bool:
    folded = fold(text)
    if not folded or folded in _NO_PLACE or text.isdigit():
        return False
    if is_listed_region(_without_numbers(text), code) or folded.startswith("metro "):
        return True
    if code == "GB" and folded in _NATIONS:
        return True
    return bool(_KINDS.search(text)) and without_region_words(folded) != folded


def _without_numbers(text: str) -> str:
    kept = " ".join(word for word in text.split() if not any(map(str.isdigit, word)))
    return kept or text


def _people(text: str, code: str | None) -> int:
    """Return the population of the largest city that a phrase names; 0 if it names none."""
    if fold(text) in _NO_PLACE or text.isdigit() or len(fold(text)) < 2:
        return 0
    return max((city.population for city in cities_called(_without_numbers(text), code)), default=0)


# The address as the answer writes it.


def _find_written_address(sentences: Sequence[_Sentence]) -> Address:
    """Return the address in the sentence that most plainly is the answer, its parts finest first."""
    best, found = 0.0, Address()
    for sentence in sentences:
        parts = _address_parts(sentence.phrases)
        address = _build_address(parts)
        known = address.country or address.region or any(_people(part, None) > _LARGE for part in parts)
        worth = sentence.weight + 3.0 * sentence.answers + (1.0 if known else -3.0) + 0.25 * min(4, len(parts))
        worth += 2.0 * sum(map(len, parts)) / max(1, sentence.length)
        if parts and worth > best:
            best, found = worth, address
    return found


def _address_parts(phrases: Sequence[_Phrase]) -> list[str]:
    """Return the parts of an address, finest first; text after its country or region repeats it in more detail."""
    parts, details, ended = list[str](), list[str](), False
    left_out = False
    for at, phrase in enumerate(phrases):
        is_verb = at == 1 and " " in phrase.link and not _GOES_ON.search(phrase.link)
        if is_verb or _STARTS_ADDRESS.search(phrase.link):
            parts, details, ended = [], [], False  # "Das Foto wurde wohl in Kiel aufgenommen"
        left_out = bool(_NON_ADDRESS_PHRASES.search(phrase.link)) or (left_out and phrase.link in ("and", "/"))
        if parts and _ENDS_ADDRESS.search(phrase.link):
            break
        if left_out or phrase.key in _NO_PLACE or not _may_be_part(phrase.text):
            continue
        if parts and phrase.text in ("D.C", "DC") and parts[-1].endswith("Washington"):
            parts[-1] += " D.C."
            continue
        coarse = _find_named_country(phrase.text) is not None or is_listed_region(phrase.text)
        into = details if ended and not coarse else parts
        into.insert(len(into) - (phrase.link == "'s"), phrase.text)
        ended = ended or coarse
    return list(dict.fromkeys([*details, *parts]))[-_MAX_PARTS:]


def _may_be_part(text: str) -> bool:
    if " " not in text and _ADJECTIVE.search(fold(text)) and _people(text, None) < _LARGE:
        return False
    return any(map(str.isalpha, text)) and not re.search(r"\d\.\d|°", text) and not _FINE.fullmatch(fold(text))


def _build_address(parts: Sequence[str]) -> Address:
    fine = list(parts)
    region = next((part for part in reversed(fine[1:]) if is_listed_region(part)), None)
    country = next((part for part in reversed(fine) if part != region and (country_code(part) is not None)), None)
    if country is not None and region is not None and not is_listed_region(region, country):
        country = None  # Columbia, South Carolina
    return Address.create(country, region, ", ".join(part for part in fine if part not in (country, region)) or None)


# The levels.


def _vote_country(sentences: Sequence[_Sentence]) -> str | None:
    votes: dict[str, float] = defaultdict(float)
    names: dict[str, str] = {}
    for sentence in sentences:
        for at, phrase in enumerate(sentence.phrases):
            code = _find_named_country(phrase.text)
            if code is None or (country_code(phrase.text) is None and is_listed_region(phrase.text)):
                continue  # British Columbia, New South Wales
            if sentence.latin and _CASELESS.match(phrase.text):
                continue  # what a sign in the photo says
            name = _tail(phrase.text, code)
            linked = bool(at) and phrase.link in (",", "(", "，", "、", "-", "–", "in")
            if code == "GE" and linked and _people(sentence.phrases[at - 1].text, "US"):
                code, name = "US", "United States"
            votes[code] += sentence.weight * (2.0 if linked else 0.2 if _QUOTED.search(phrase.link) else 1.0)
            names[code] = name
    return names[max(votes, key=votes.__getitem__)] if votes else None


def _tail(text: str, code: str) -> str:
    words = text.split()
    return next(tail for at in range(len(words)) if country_code(tail := " ".join(words[at:])) == code)


def _city(sentences: Sequence[_Sentence], code: str | None) -> str | None:
    votes: dict[str, float] = defaultdict(float)
    names: dict[str, str] = {}
    for sentence in sentences:
        for at, phrase in enumerate(sentence.phrases):
            for name in _city_names(phrase.text):
                worth = _worth_as_city(sentence.phrases, at, name, code)
                if worth:
                    votes[compact(name)] += sentence.weight * worth
                    names.setdefault(compact(name), name)
    return names[max(votes, key=votes.__getitem__)] if votes else None


def _city_names(text: str) -> Iterator[str]:
    """Yield the names in a phrase that may be a city's: the whole, its beginning and its end (Westfield Sydney)."""
    name = _without_numbers(text)
    yield name
    words = name.split()
    for count in range(1, min(4, len(words))):
        yield " ".join(words[-count:])
        yield " ".join(words[:count])


def _worth_as_city(phrases: Sequence[_Phrase], at: int, name: str, code: str | None) -> float:
    """Return how plainly a phrase is the city: large, or before its region or country; 0 if it is no city."""
    phrase, people = phrases[at], _people(name, code)
    if not people and (_find_named_country(phrase.text) == code or code in _CITY_STATES):
        return 0.0
    after = phrases[at + 1] if at + 1 < len(phrases) else None
    chained = (
        after is not None
        and after.link in (",", "，", "、", "(", "in")
        and (_find_named_country(after.text) == code is not None or _is_region(after.text, code))
    )
    if code is None and people < _LARGE and not chained:
        return 0.0
    if not people:
        if name != _without_numbers(phrase.text):
            return 0.0
        in_city = bool(at) and phrase.link == "," and _people(phrases[at - 1].text, code) > 0
        return 1.75 if chained and not in_city and _may_be_town(phrase, code) else 0.0
    worth = 1.0 + 1.5 * chained + 0.5 * (people > _LARGE)
    if name == _without_numbers(phrase.text):
        return worth
    return _PARTIAL_NAME_WEIGHT * worth if people > _LARGE and code is not None else 0.0


def _may_be_town(phrase: _Phrase, code: str | None) -> bool:
    if phrase.key in _NO_PLACE or _STREET.search(phrase.key) or any(map(str.isdigit, phrase.text)):
        return False
    return not _FINE.search(phrase.key) and len(phrase.text.split()) <= 4 and not _is_region(phrase.text, code)


def _region(sentences: Sequence[_Sentence], code: str | None, city: str | None) -> str | None:
    votes: dict[str, float] = defaultdict(float)
    names: dict[str, str] = {}
    for sentence in sentences:
        for at, phrase in enumerate(sentence.phrases):
            name = _without_numbers(phrase.text)
            if city is not None and _is_city_name(name, city, code) and not _KINDS.search(name):
                continue
            before = sentence.phrases[at - 1] if at else None
            after = sentence.phrases[at + 1] if at + 1 < len(sentence.phrases) else None
            in_city = before is not None and city is not None and _is_city_name(before.text, city, code)
            between = (
                in_city and phrase.link in (",", "，", "(") and after is not None and after.link == ","
                and _find_named_country(after.text) == code is not None
            )  # fmt: skip
            called = bool(re.search(r"(?:state|province) of$", phrase.link))
            if not (_is_region(name, code) or between or called) or (len(name) <= 3 and not in_city):
                continue
            if city is not None and _is_elsewhere(before, phrase, code, in_city=in_city, between=between):
                continue
            if sentence.hedged and not in_city:
                continue
            votes[compact(name)] += sentence.weight * (1.0 + 2.0 * in_city + 1.0 * between)
            names.setdefault(compact(name), name)
    return names[max(votes, key=votes.__getitem__)] if votes else None


def _is_elsewhere(before: _Phrase | None, phrase: _Phrase, code: str | None, *, in_city: bool, between: bool) -> bool:
    """Return whether a region belongs to another city, is another city, or is one of several examples."""
    listed = not in_city or re.match(r",|and\b|or\b|etc\b", phrase.behind)
    city_or_country = _people(phrase.text, code) > _LARGE or _find_named_country(phrase.text) not in (None, code)
    if city_or_country and not between and listed and not _KINDS.search(phrase.text):
        return True
    if in_city:
        return False
    if before is not None and re.search(r"(?:^|\s)(?:,|in|\()$", phrase.link) and _people(before.text, code) > _LARGE:
        return True
    return any(re.search(r"\bor\b", link) for link in (phrase.link, phrase.behind))


def _is_city_name(text: str, city: str, code: str | None) -> bool:
    return same_city(_without_numbers(text), city, code) or fold(city) == fold(_without_numbers(text))


def _address(
    sentences: Sequence[_Sentence], code: str | None, known: tuple[str | None, str | None, str | None]
) -> str | None:
    """Return the finest place that a reply concludes: a street, a building or a quarter of its city."""
    best, found = _MIN_ADDRESS, None
    for sentence in sentences:
        for at, phrase in enumerate(sentence.phrases):
            if not _may_be_address(phrase, code, known) or _is_heading(sentence.phrases, at):
                continue
            street = _STREET.search(phrase.key) is not None
            placed = _lies_in_city(sentence.phrases, at, code, known[0])
            fine = bool(_FINE.search(phrase.key) or _QUARTER.search(phrase.behind))
            if not (street or placed or fine):
                continue
            worth = sentence.weight / 2 + placed + 2.0 * street + 0.7 * fine
            worth += 1.0 * bool(_LEADS.search(phrase.link)) - 1.5 * bool(_QUOTED.search(phrase.link))
            worth += 2.5 * bool(street and (_NUMBERED.search(phrase.text)))
            if worth > best:
                best, found = worth, _with_number(sentence.phrases, at)
    return found


def _is_heading(phrases: Sequence[_Phrase], at: int) -> bool:
    """Return whether a phrase is the heading of a paragraph, not just the first word of a sentence."""
    if at or phrases[at].link not in ("", "-", "•", "–"):
        return False
    after = phrases[1].link if len(phrases) > 1 else ""
    return after.startswith(":") or (len(phrases[0].text.split()) == 1 and not _CASELESS.match(phrases[0].text))


def _lies_in_city(phrases: Sequence[_Phrase], at: int, code: str | None, city: str | None) -> float:
    """Return how plainly the context places a phrase in the city: "X in CITY", "X, Y, CITY", "CITY's X"."""
    if city is None:
        return 0.0
    worth = 0.0
    after = phrases[at + 1 : at + 4]
    gap = next((way for way, later in enumerate(after) if _is_city_name(later.text, city, code)), None)
    links = [later.link for later in after[: gap + 1]] if gap is not None else []
    if links and all(_INTO.search(link) and len(link) < _LONGEST_LINK for link in links):
        worth += 2.0
    link = phrases[at].link
    if at and _is_city_name(phrases[at - 1].text, city, code):
        worth += 1.5 * link.endswith("'s") + 0.5 * (link in ("(", ",")) + 1.5 * ("specifically" in link)
    return worth


def _with_number(phrases: Sequence[_Phrase], at: int) -> str:
    """Return a street with its house number or with the street that it crosses."""
    text = phrases[at].text
    if at and phrases[at].link in ("and", "/") and _STREET.search(phrases[at - 1].key):
        return f"{phrases[at - 1].text} and {text}"
    if at + 1 < len(phrases) and phrases[at + 1].link == "," and re.fullmatch(r"\d{1,4}[a-z]?", phrases[at + 1].text):
        return f"{text}, {phrases[at + 1].text}"
    return text


def _may_be_address(phrase: _Phrase, code: str | None, known: tuple[str | None, str | None, str | None]) -> bool:
    text, key = phrase.text, phrase.key
    if not key or key in _NO_PLACE or text.isdigit() or _POSTCODE.match(text) or len(key) < 3:
        return False
    if _ADJECTIVE.search(key) or (text.isupper() and not _HAN.search(text)):
        return False
    if _find_named_country(text) is not None and len(text.split()) <= 2:
        return False
    plain = _without_numbers(text)
    if any(item and (fold(item) == fold(plain) or _is_city_name(plain, item, code)) for item in known):
        return False
    return not _is_region(plain, code) and re.search(r"\d{3,}\.\d|°|\d\.\d{2}", text) is None
