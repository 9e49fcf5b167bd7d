"""Which script a character is of, and which letters give a language away. Written by hand; not complete."""

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
"""Beginnings of Unicode character names and the ISO 15924 code of their script. Source: the Unicode Character Database
names characters after their script."""

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

TELLING_LETTERS = {**_SHARED, **dict.fromkeys(_VIETNAMESE, "vi")}
"""Letters that few languages have, with those languages' ISO 639 codes. Source: the alphabets themselves."""

SIMPLIFIED_ONLY = frozenset(
    "们这个为时对说发经现过还进样车东书长门问间见马鸟鱼龙风飞电话语请谢谁让认识读买卖红银铁钱钟头质贵费资贸购运远"
    "迟选适产业专严丰临义乐习乡云亚亿仅从众优传伤伦价华协单卫厂厅历压县变听员响园围图团圆场坏块坚处备复够夺奖妇妈"
    "娱孙宁实审宾导尔尘尝层岁岛币师带帮庆库应废开异张弹归录忆态总战户扩扫报护拥择损换据无术权极构标树桥检欢气汉汤"
    "沟泪泽洁测济浏润涨热烦烧爱牵狱猎环疗监盖盘码矿确离种积穷笔签简粮紧纪约级纯纸线组细织终绍结给络统继续维综罗职"
    "联胜脑艺节药营蓝虽补规视览觉订计讨训议记许论设访证评词试详误课调谈谊贝财责败货贯贡赛赞赵趋跃轨转轮软轻载较输"
    "辆达迁迈递遗邮邻释钢铃错镇镜闭闲闻阅阳阶际陆陈险隐难顶项顺须顾预领频题颜额饭饮馆驾验鲜鸡齐龄"
)
TRADITIONAL_ONLY = frozenset(
    "們這來對說發經讓讀賣鐵錢遲專嚴豐樂眾價單廠廳歷壓縣雙變號聽圍圖團圓壞獎寶實歲帶幫莊應廢彈歸當錄戀戰戶擴擔擇據"
    "歡歐氣淚澤濟燒獨獵稱簽臺灣國學區銷檢樓權條產"
)
"""Characters that Chinese writes in one way only and that Japanese does not write so; the commonest on signs."""
