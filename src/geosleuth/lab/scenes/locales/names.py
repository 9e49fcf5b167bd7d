"""Names of towns and streets, postcodes and area codes by country, where a language alone does not decide them."""

import gzip
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

USUAL_TOWN_COUNT: Final = 12
TOWN_COUNTS: Final = {
    "US": 40, "DE": 24, "FR": 24, "GB": 24, "IT": 20, "ES": 18, "BR": 22, "MX": 18, "CA": 14, "AU": 14, "PL": 16,
    "RU": 20, "CN": 22, "JP": 20, "TR": 16, "AR": 14, "IS": 6, "HK": 4, "IN": 9, "ID": 16, "UA": 14, "KR": 14,
    "TH": 14, "VN": 14, "EE": 8, "IE": 8, "NZ": 8, "SI": 7, "LV": 7, "LT": 8, "AM": 6, "GE": 7,
}  # fmt: skip

EXONYMS: Final = {
    ("DE", "Munich"): "München", ("DE", "Nuremberg"): "Nürnberg", ("AT", "Vienna"): "Wien",
    ("CH", "Sankt Gallen"): "St. Gallen", ("BE", "Antwerp"): "Antwerpen", ("BE", "Ostend"): "Oostende",
    ("IT", "Rome"): "Roma", ("IT", "Milan"): "Milano", ("IT", "Naples"): "Napoli", ("IT", "Turin"): "Torino",
    ("IT", "Genoa"): "Genova", ("IT", "Florence"): "Firenze", ("IT", "Padua"): "Padova", ("IT", "Venice"): "Venezia",
    ("IT", "Syracuse"): "Siracusa", ("IT", "Mantua"): "Mantova", ("IT", "Leghorn"): "Livorno",
    ("PT", "Lisbon"): "Lisboa", ("PL", "Warsaw"): "Warszawa", ("PL", "Bielsko-Biala"): "Bielsko-Biała",
    ("CZ", "Prague"): "Praha", ("CZ", "Pilsen"): "Plzeň", ("RO", "Bucharest"): "București",
    ("SE", "Gothenburg"): "Göteborg", ("DK", "Copenhagen"): "København", ("DK", "Århus"): "Aarhus",
    ("NL", "The Hague"): "Den Haag", ("RS", "Belgrade"): "Beograd", ("TR", "Istanbul"): "İstanbul",
    ("MX", "Mexico City"): "Ciudad de México", ("MY", "Malacca"): "Melaka",
    ("ID", "South Tangerang"): "Tangerang Selatan", ("ID", "Jambi City"): "Jambi", ("ES", "Seville"): "Sevilla",
}  # fmt: skip

ONLY_IN_REGIONS: Final = {"BE": frozenset({"VLG"})}
NOT_IN_REGIONS: Final = {
    "CH": frozenset({"GE", "VD", "NE", "JU", "FR", "VS", "TI"}),
    "CA": frozenset({"10"}),
}
"""First-level regions, by GeoNames' code, whose signs are in another language than the land's table."""

ON_A_BORDER: Final = frozenset({
    186180, 303750, 318668, 324944, 345818, 634093, 1255211, 1267758, 1268855, 1295301, 1808588, 2461874, 2521456,
    2660108, 2661810, 2737523, 2783820, 2814791, 2847639, 2885679, 3014034, 3077882, 3460232, 3464705, 3665016, 3671325,
    3924895, 3925227, 4676740, 5312913, 6087892, 8199378, 8199394, 11905975, 13405906, 13527308, 13527315, 13527316,
    13527318,
})  # fmt: skip
"""Settlements, by GeoNames number, whose streets would reach into another country than their own."""

_CYRILLIC: Final = {
    "Dž": "Џ", "Lj": "Љ", "Nj": "Њ", "dž": "џ", "lj": "љ", "nj": "њ",
    **dict(zip("ABVGDĐEŽZIJKLMNOPRSTĆUFHCČŠ", "АБВГДЂЕЖЗИЈКЛМНОПРСТЋУФХЦЧШ", strict=True)),
    **dict(zip("abvgdđežzijklmnoprstćufhcčš", "абвгдђежзијклмнопрстћуфхцчш", strict=True)),
}  # fmt: skip

FIGURES: Final = "0123456789"
FIRST_LETTERS: Final = "ABCDEFGHJKLMNPQRSTUVWXYZ"
_LETTERS: Final = "ABCEGHJKLMNPRTVXY"  # none that any of the countries leaves out
POSTCODES: Final = {
    "DE": "#####", "AT": "####", "CH": "####", "FR": "#####", "BE": "####", "NL": "#### @@", "IT": "#####",
    "ES": "#####", "PT": "####-###", "BR": "#####-###", "MX": "#####", "CL": "#######",
    "CA": "@#@ #@#", "AR": "@####",
    "CO": "######", "US": "#####", "AU": "####", "NZ": "####", "ZA": "####", "PL": "##-###", "CZ": "### ##",
    "SK": "### ##", "HU": "####", "RO": "######", "BG": "####", "GR": "### ##", "RU": "######", "UA": "#####",
    "RS": "#####", "HR": "#####", "SI": "####", "TR": "#####", "SE": "### ##", "NO": "####", "DK": "####",
    "IS": "###", "FI": "#####", "EE": "#####", "LV": "LV-####", "LT": "#####", "JP": "###-####", "KR": "#####",
    "CN": "######", "TW": "###", "TH": "#####", "VN": "######", "ID": "#####", "MY": "#####", "PH": "####",
    "IN": "######", "LK": "#####", "BD": "####", "NP": "#####", "PK": "#####", "IR": "##########",
    "IL": "#######", "EG": "#####", "SA": "#####", "MA": "#####", "GE": "####", "AM": "####", "ET": "####",
    "KE": "#####", "TZ": "#####", "NG": "######", "MM": "#####", "KZ": "######",
}  # fmt: skip
"""``#`` is a figure, ``@`` a letter.

Countries whose codes need a table of places (the United Kingdom, Ireland, Peru) are left out, and those that have none.
"""
_BEGINNINGS: Final = {
    "DE.01": "70 71 72 73 74 75 76 77 78 79 88", "DE.02": "80 81 82 83 84 85 86 87 90 91 92 93 94 95 96 97",
    "DE.04": "20 21 22", "DE.05": "34 35 36 60 61 63 64 65", "DE.06": "26 27 29 30 31 38 49",
    "DE.07": "32 33 40 41 42 44 45 46 47 48 50 51 52 53 57 58 59", "DE.08": "54 55 56 67 76",
    "DE.10": "23 24 25", "DE.11": "14 15 16 03", "DE.12": "17 18 19", "DE.13": "01 02 04 08 09", "DE.14": "06 38 39",
    "DE.15": "07 98 99", "DE.16": "10 12 13", "DE.03": "28", "DE.09": "66",
    "AT.01": "7", "AT.02": "9", "AT.03": "2 3", "AT.04": "4", "AT.05": "5", "AT.06": "8", "AT.07": "6", "AT.08": "6",
    "AT.09": "1",
    "FR.11": "75 77 78 91 92 93 94 95", "FR.24": "18 28 36 37 41 45", "FR.27": "21 25 39 58 70 71 89 90",
    "FR.28": "14 27 50 61 76", "FR.32": "02 59 60 62 80", "FR.44": "08 10 51 52 54 55 57 67 68 88",
    "FR.52": "44 49 53 72 85", "FR.53": "22 29 35 56", "FR.75": "16 17 19 23 24 33 40 47 64 79 86 87",
    "FR.76": "09 11 12 30 31 32 34 46 48 65 66 81 82", "FR.84": "01 03 07 15 26 38 42 43 63 69 73 74",
    "FR.93": "04 05 06 13 83 84",
    "NL.01": "78 79 94", "NL.02": "84 85 86 87 88 89 91 92", "NL.03": "38 39 65 66 67 68 69 70 71 73",
    "NL.04": "95 96 97 99", "NL.05": "58 59 60 61 62 63 64", "NL.06": "46 47 48 49 50 51 52 53 54 55 56 57",
    "NL.07": "10 11 12 13 14 15 16 17 18 19 20 21", "NL.09": "34 35 36 37 38", "NL.15": "74 75 76 77 80 81",
    "NL.11": "22 23 24 25 26 27 28 29 30 31 32 33", "NL.10": "43 44 45", "NL.16": "82 83",
    "PL.72": "5", "PL.73": "85 86 87 88 89", "PL.74": "9", "PL.75": "20 21 22 23 24", "PL.76": "65 66 67 68",
    "PL.77": "30 31 32 33 34", "PL.78": "00 01 02 03 04 05 06 07 08 09 26", "PL.79": "45 46 47 48 49",
    "PL.80": "35 36 37 38 39", "PL.81": "15 16 17 18 19", "PL.82": "80 81 82 83 84", "PL.83": "40 41 42 43 44",
    "PL.84": "25 26 27 28 29", "PL.85": "10 11 12 13 14", "PL.86": "60 61 62 63 64", "PL.87": "70 71 72 73 74 75 76 78",
    "CH.AG": "50 52 53 54 55 56", "CH.BE": "30 31 34 35 36 37 38", "CH.BS": "40", "CH.GR": "70 71 72 74 75",
    "CH.LU": "60 61 62", "CH.SG": "90 94 95 96", "CH.SO": "45 46", "CH.SZ": "64 88", "CH.TG": "85 93", "CH.ZG": "63",
    "CH.ZH": "80 81 83 84 86 87 89", "CH.BL": "41 42 43 44", "CH.SH": "82",
}  # fmt: skip
"""First figures of a region's codes, by GeoNames' code, for some countries whose regions the atlas does not know so."""


def in_cyrillic(name: str) -> str:
    """Return a Serbian name in Serbia's other alphabet."""
    for latin, cyrillic in _CYRILLIC.items():
        name = name.replace(latin, cyrillic)
    return name


def spelled(text: str, country: str) -> str:
    """Return a text as the country spells its language: Switzerland has no ß."""
    return text.replace("ß", "ss") if country == "CH" else text


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split("|"))


LISTED: Final[dict[str, tuple[str, ...]]] = {
    "el": _listed("Αθήνα | Βόλος | Ιωάννινα | Καβάλα | Σέρρες | Χανιά | Ρόδος | Καλαμάτα | Τρίκαλα | Λαμία | Κομοτηνή"),
    "ru": _listed(
        "Новосибирск | Екатеринбург | Омск | Уфа | Красноярск | Воронеж | Волгоград | Краснодар | Саратов"
        " | Тюмень | Ижевск | Барнаул | Иркутск | Хабаровск | Ярославль | Владивосток | Рязань | Астрахань"
        " | Пенза | Киров | Тула | Тверь | Псков | Вологда | Кострома | Мурманск | Архангельск"
    ),
    "uk": _listed(
        "Київ | Харків | Дніпро | Вінниця | Житомир | Черкаси | Суми | Рівне | Івано-Франківськ | Тернопіль"
        " | Луцьк | Ужгород | Чернігів | Хмельницький"
    ),
    "bg": _listed(
        "София | Стара Загора | Плевен | Сливен | Добрич | Шумен | Перник | Хасково | Ямбол | Благоевград | Враца"
    ),
    "kk": _listed(
        "Ақтөбе | Тараз | Павлодар | Өскемен | Семей | Атырау | Қостанай | Қызылорда | Орал | Ақтау | Көкшетау"
    ),
    "vi": _listed(
        "Hà Nội | Hải Phòng | Biên Hòa | Vinh | Quy Nhơn | Vũng Tàu | Buôn Ma Thuột | Nam Định | Thái Nguyên"
        " | Đà Lạt | Rạch Giá | Long Xuyên | Thanh Hóa | Pleiku | Phan Thiết"
    ),
    "ja": _listed(
        "東京 | 横浜市 | 大阪市 | 名古屋市 | 神戸市 | 広島市 | 仙台市 | 新潟市 | 静岡市 | 岡山市 | 熊本市"
        " | 鹿児島市 | 松山市 | 長崎市 | 青森市 | 秋田市 | 高松市 | 富山市 | 松本市 | 函館市 | 旭川市"
        " | 大分市 | 高知市 | 盛岡市"
    ),
    "ko": _listed(
        "서울 | 인천 | 대전 | 광주 | 울산 | 수원 | 청주 | 포항 | 창원 | 천안 | 춘천 | 강릉 | 목포 | 여수"
        " | 순천 | 원주 | 안동 | 군산"
    ),
    "zh": _listed(
        "北京 | 上海 | 广州 | 深圳 | 武汉 | 重庆 | 天津 | 杭州 | 青岛 | 大连 | 沈阳 | 哈尔滨 | 长春 | 济南"
        " | 郑州 | 长沙 | 福州 | 厦门 | 南宁 | 贵阳 | 兰州 | 太原 | 合肥 | 南昌"
    ),
    "zh-hant": _listed("台北 | 基隆市 | 新竹市 | 嘉義市 | 屏東市 | 宜蘭 | 彰化市 | 桃園市 | 台東市 | 苗栗市"),
    "th": _listed(
        "กรุงเทพมหานคร | นครราชสีมา | อุดรธานี | หาดใหญ่ | เชียงราย | พิษณุโลก | อุบลราชธานี | สุราษฎร์ธานี"
        " | นครสวรรค์ | ลำปาง | ระยอง | ตรัง | สงขลา | หัวหิน"
    ),
    "my": _listed("နေပြည်တော် | တောင်ကြီး | ပုသိမ် | မုံရွာ | မြစ်ကြီးနား | စစ်တွေ | ပြည် | မိတ္ထီလာ | ပခုက္ကူ | ထားဝယ်"),
    "hi": _listed("दिल्ली | कानपुर | इन्दौर | पटना | आगरा | जबलपुर | जोधपुर | ग्वालियर | मेरठ | रायपुर | कोटा | बरेली | राँची"),
    "ta": _listed("சென்னை | திருநெல்வேலி | வேலூர் | ஈரோடு | தஞ்சாவூர் | திண்டுக்கல் | நாகர்கோவில் | கும்பகோணம்"),
    "te": _listed("గుంటూరు | నెల్లూరు | కర్నూలు | రాజమండ్రి | తిరుపతి | కాకినాడ | కరీంనగర్ | నిజామాబాదు | అనంతపురం"),
    "kn": _listed("ಬೆಂಗಳೂರು | ದಾವಣಗೆರೆ | ಬಳ್ಳಾರಿ | ಶಿವಮೊಗ್ಗ | ತುಮಕೂರು | ಉಡುಪಿ | ಹಾಸನ | ರಾಯಚೂರು | ಬೀದರ್"),
    "ml": _listed("തിരുവനന്തപുരം | കൊല്ലം | ആലപ്പുഴ | പാലക്കാട് | കോട്ടയം | മലപ്പുറം | കാസർഗോഡ്"),
    "gu": _listed("ભાવનગર | જામનગર | જૂનાગઢ | ગાંધીનગર | નવસારી | આણંદ | પોરબંદર | ભુજ"),
    "pa": _listed("ਬਠਿੰਡਾ | ਮੋਗਾ | ਪਠਾਨਕੋਟ | ਫ਼ਿਰੋਜ਼ਪੁਰ | ਹੁਸ਼ਿਆਰਪੁਰ | ਕਪੂਰਥਲਾ | ਬਰਨਾਲਾ"),
    "bn": _listed("ঢাকা | বরিশাল | রংপুর | কুমিল্লা | ময়মনসিংহ | যশোর | বগুড়া | দিনাজপুর | পাবনা | কক্সবাজার | টাঙ্গাইল | ফরিদপুর"),
    "ne": _listed("भरतपुर | वीरगञ्ज | बुटवल | धरान | जनकपुर | हेटौडा | नेपालगञ्ज | इटहरी | धनगढी"),
    "si": _listed("යාපනය | අනුරාධපුරය | කුරුණෑගල | රත්නපුරය | බදුල්ල | නුවරඑළිය | මීගමුව | ත්‍රිකුණාමලය | මඩකලපුව"),
    "ur": _listed(
        "اسلام آباد | راولپنڈی | فیصل آباد | حیدرآباد | کوئٹہ | سیالکوٹ | گوجرانوالہ | بہاولپور | سرگودھا"
        " | سکھر | ایبٹ آباد"
    ),
    "fa": _listed(
        "تهران | کرج | قم | اهواز | کرمان | یزد | رشت | ارومیه | همدان | کرمانشاه | اردبیل | قزوین | بندرعباس"
    ),
    "he": _listed("תל אביב | אשדוד | אשקלון | חדרה | עפולה | נהריה | אילת | טבריה | רחובות | כרמיאל"),
    "ar": _listed(
        "القاهرة | بورسعيد | السويس | المنصورة | الزقازيق | أسيوط | المنيا | الفيوم | الإسماعيلية | دمياط"
        " | سوهاج | الرياض | مكة | تبوك | حائل | بريدة | الطائف | نجران | جازان | أبو ظبي | عجمان | الفجيرة"
        " | الرباط | الدار البيضاء | مكناس | وجدة | تطوان | آسفي | الجديدة | بني ملال | العرائش"
    ),
    "ka": _listed("თბილისი | რუსთავი | ზუგდიდი | ფოთი | ხაშური | სენაკი | ზესტაფონი"),
    "hy": _listed("Վաղարշապատ | Հրազդան | Աբովյան | Կապան | Արմավիր | Գավառ | Գորիս"),
    "am": _listed("አዲስ አበባ | ድሬዳዋ | ጅማ | አዳማ | ደሴ | ሐረር | አርባ ምንጭ | ጅጅጋ | ነቀምቴ | አክሱም | ደብረ ብርሃን"),
}
"""Towns as their own signs name them, by language, where the atlas's main names are in another script."""


@dataclass(frozen=True, slots=True)
class StreetWords:
    """Forms and stems that street names are made of, and names that stand whole."""

    forms: tuple[str, ...]
    stems: tuple[str, ...]
    whole: tuple[str, ...]


def _words(forms: str, stems: str, whole: str) -> StreetWords:
    cut = (tuple(part.strip() for part in text.split("|")) for text in (forms, stems, whole))
    return StreetWords(*cut)


STREETS: Final = {
    "AR": _words(
        "Calle {} | Avenida {}",
        "Belgrano | Rivadavia | 25 de Mayo | 9 de Julio | Sarmiento | San Lorenzo | Alberdi | Urquiza"
        " | Moreno | Urdaneta | Las Heras | Güemes | Alem | Tucumán | Pellegrini | Lavalle",
        "Avenida San Martín | Avenida Mitre | Peatonal Córdoba | Bulevar Oroño | Plaza 25 de Mayo"
        " | Diagonal Norte",
    ),
    "MX": _words(
        "Calle {} | Avenida {}",
        "Juárez | Morelos | Hidalgo | Allende | Zaragoza | Guerrero | 5 de Mayo | 16 de Septiembre | Madero"
        " | Insurgentes | Niños Héroes | Aldama | Matamoros | Obregón | Galeana | Emiliano Zapata",
        "Avenida Reforma | Plaza de la Constitución | Calzada Independencia | Avenida Revolución"
        " | Calle Reforma",
    ),
    "CL": _words(
        "Calle {} | Avenida {}",
        "O'Higgins | Prat | Carrera | Balmaceda | Bulnes | Freire | Errázuriz | Los Carrera | Portales"
        " | Cochrane | Manuel Rodríguez | Colo Colo | Caupolicán | Lautaro | Los Aromos",
        "Plaza de Armas | Avenida Alemania | Paseo Peatonal | Avenida Costanera | Calle Estación",
    ),
    "PE": _words(
        "Jirón {} | Avenida {} | Calle {}",
        "Grau | Bolognesi | Ayacucho | Junín | Puno | Tacna | Arequipa | Cusco | Lima | Huancavelica"
        " | Pizarro | Cáceres | Túpac Amaru | Los Incas",
        "Plaza de Armas | Avenida La Marina | Jirón de la Unión | Avenida El Sol | Calle Comercio",
    ),
    "CO": _words(
        "Calle {} | Carrera {} | Diagonal {}",
        "3 | 5 | 7 | 8 | 10 | 11 | 14 | 15 | 19 | 22 | 26 | 34 | 45 | 50 | 68 | 72",
        "Avenida Bolívar | Parque Principal | Avenida Santander | Calle Real | Avenida del Río",
    ),
    "US": _words(
        "{} Street | {} Avenue | {} Drive | {} Boulevard",
        "Oak | Maple | Elm | Cedar | Pine | Washington | Lincoln | Jefferson | Madison | Franklin | Walnut"
        " | Chestnut | Sycamore | Jackson | 1st | 2nd | 3rd | 5th | Lakeview | Hickory",
        "Main Street | Broadway | Park Avenue | Market Street | Railroad Avenue | Martin Luther King Boulevard",
    ),
    "CA": _words(
        "{} Street | {} Avenue | {} Road | {} Crescent",
        "Maple | Birch | Queen | Dundas | Wellington | Lake | Mill | Laurier | Victoria | Cartier | Spruce"
        " | Poplar | Trillium | Macdonald | Glengarry",
        "Main Street | King Street West | Queen Street | Station Street | Front Street East",
    ),
    "GB": _words(
        "{} Street | {} Road | {} Lane | {} Close",
        "Mill | Victoria | Albert | Church | Castle | Abbey | Priory | Chapel | Orchard | Windsor | Bridge"
        " | Manor | Park | Wharf | Cromwell | Nelson | Hawthorn | Tanner",
        "High Street | Market Place | Station Road | London Road | The Green | Cheap Street | The Parade",
    ),
    "IE": _words(
        "{} Street | {} Road | {} Lane",
        "Parnell | Emmet | Pearse | Castle | Bridge | Chapel | Abbey | Mill | Connolly | Davitt | Friary"
        " | Quay | St Brigid's",
        "Main Street | O'Connell Street | Patrick Street | The Square | Shop Street | Market Street",
    ),
    "AU": _words(
        "{} Street | {} Road | {} Parade | {} Terrace",
        "Banksia | Wattle | George | Elizabeth | Collins | Macquarie | Bourke | Flinders | Jacaranda"
        " | Victoria | Darling | Hume | Kookaburra | Esplanade | Lachlan",
        "High Street | The Esplanade | Railway Parade | Main Street | Pacific Street",
    ),
    "NZ": _words(
        "{} Street | {} Road | {} Terrace",
        "Kowhai | Rata | Totara | Rimu | Victoria | Queens | Cuba | Tui | Harbour | Princes | Cook | Kauri"
        " | Manuka | Tasman",
        "High Street | Marine Parade | The Octagon | Main Road | Great North Road",
    ),
    "EG": _words(
        "شارع {}",
        "الجمهورية | التحرير | النصر | سعد زغلول | عرابي | الجلاء | النيل | البحر | رمسيس | الأزهر"
        " | طلعت حرب | المدارس",
        "شارع الكورنيش | شارع المحطة | ميدان التحرير | شارع 23 يوليو | شارع بورسعيد",
    ),
    "SA": _words(
        "شارع {} | طريق {}",
        "الملك فهد | الملك عبد العزيز | الملك فيصل | الأمير سلطان | الأمير محمد | العليا | التحلية | الستين"
        " | الأربعين | النخيل",
        "طريق الملك خالد | شارع الستين | طريق المدينة | شارع السوق | طريق الحرمين",
    ),
    "AE": _words(
        "شارع {}",
        "الشيخ زايد | خليفة | الاتحاد | الوحدة | الكورنيش | الشيخ راشد | المكتوم | الخليج | النخيل | العروبة"
        " | اللؤلؤ",
        "شارع الاتحاد | شارع الكورنيش | شارع المطار | شارع الميناء",
    ),
    "MA": _words(
        "شارع {} | زنقة {}",
        "محمد الخامس | الحسن الثاني | علال الفاسي | فلسطين | المسيرة الخضراء | الزرقطوني | طارق بن زياد"
        " | ابن خلدون | يوسف بن تاشفين | الأطلس | الجيش الملكي",
        "شارع المسيرة | ساحة الأمم المتحدة | شارع النصر | شارع الاستقلال | باب الأحد",
    ),
    "KE": _words(
        "{} Road | {} Street | {} Avenue",
        "Kenyatta | Moi | Uhuru | Harambee | Tom Mboya | Kimathi | Oginga Odinga | Haile Selassie | Mission"
        " | Market | Lake | Acacia",
        "Uhuru Highway | Station Road | Kenyatta Avenue | Biashara Street | Stadium Road",
    ),
    "TZ": _words(
        "Barabara ya {} | Mtaa wa {}",
        "Nyerere | Sokoine | Mwinyi | Karume | Jamhuri | Azikiwe | Uhuru | Bandari | Shule | Hospitali"
        " | Kaunda | Mkwawa",
        "Barabara Kuu | Barabara ya Soko | Stendi Kuu | Barabara ya Bagamoyo",
    ),
    "HK": _words(
        "{}道 | {}街",
        "皇后大 | 德輔 | 荔枝角 | 青山 | 太子 | 窩打老 | 廣東 | 北京 | 上海 | 南京 | 廟 | 花園 | 福榮 | 鴨寮",
        "英皇道 | 彌敦道 | 軒尼詩道 | 大埔道",
    ),
}  # fmt: skip
"""By country; others go by what their language has."""


@cache
def areas() -> dict[str, str]:
    """Return area codes by GeoNames number ("2950159") and by region ("BR.27")."""
    data = gzip.decompress((files("geosleuth.lab.scenes.locales") / "data" / "areas.tsv.gz").read_bytes())
    return dict(line.split("\t") for line in data.decode("ascii").splitlines())


def options_for(sign: str) -> str:
    """Return what may stand at a place of a mask."""
    return FIGURES if sign == "#" else _LETTERS if sign == "@" else sign


@cache
def beginnings() -> dict[str, tuple[str, ...]]:
    """Return the prefixes of codes by region ("FR.11") or GeoNames number; by country where codes show regions.

    ``scripts/build_postcode_beginnings.py`` makes the table from what the atlas knows; the rest is written here.
    """
    data = gzip.decompress((files("geosleuth.lab.scenes.locales") / "data" / "postcodes.tsv.gz").read_bytes())
    rows = dict(line.split("\t") for line in data.decode("ascii").splitlines())
    return {code: tuple(found.split()) for code, found in (rows | _BEGINNINGS).items()}
