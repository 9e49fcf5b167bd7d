"""Which towns a world takes in each land, and how they write themselves where the atlas has an English name."""

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


def in_cyrillic(name: str) -> str:
    """A Serbian name in Serbia's other alphabet."""
    for latin, cyrillic in _CYRILLIC.items():
        name = name.replace(latin, cyrillic)
    return name


def spelled(text: str, country: str) -> str:
    """A text as the country spells its language: Switzerland has no ß."""
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
