"""English names of scripts, and of languages that CLDR has no English name for."""

# Script names by ISO 15924 code, for all scripts in `geosleuth.atlas.facts.all_countries`.
SCRIPT_NAMES = {
    "Adlm": "Adlam", "Arab": "Arabic", "Armi": "Imperial Aramaic", "Armn": "Armenian", "Bali": "Balinese",
    "Bamu": "Bamum", "Beng": "Bengali", "Cakm": "Chakma", "Cans": "Canadian syllabics", "Cham": "Cham",
    "Cher": "Cherokee", "Copt": "Coptic", "Cprt": "Cypriot", "Cyrl": "Cyrillic", "Deva": "Devanagari",
    "Ethi": "Ethiopic", "Geor": "Georgian", "Grek": "Greek", "Gujr": "Gujarati", "Guru": "Gurmukhi",
    "Hans": "simplified Chinese", "Hant": "traditional Chinese", "Hebr": "Hebrew", "Hmnp": "Nyiakeng Puachue Hmong",
    "Jpan": "Japanese (kanji, hiragana, katakana)", "Kana": "katakana", "Khmr": "Khmer", "Knda": "Kannada",
    "Kore": "Korean (hangul, hanja)", "Lana": "Tai Tham", "Laoo": "Lao", "Latn": "Latin", "Lepc": "Lepcha",
    "Linb": "Linear B", "Lisu": "Lisu", "Mlym": "Malayalam", "Mong": "Mongolian", "Mroo": "Mro", "Mymr": "Burmese",
    "Nkoo": "N'Ko", "Olck": "Ol Chiki", "Orya": "Odia", "Osge": "Osage", "Rohg": "Hanifi Rohingya",
    "Saur": "Saurashtra", "Shaw": "Shavian", "Sinh": "Sinhala", "Syrc": "Syriac", "Tale": "Tai Le",
    "Talu": "New Tai Lue", "Taml": "Tamil", "Tavt": "Tai Viet", "Telu": "Telugu", "Tfng": "Tifinagh", "Thaa": "Thaana",
    "Thai": "Thai", "Tibt": "Tibetan", "Vaii": "Vai", "Yiii": "Yi",
}  # fmt: skip

# Language names (ISO 639-3) by ISO 639 code, for the eight most used languages of each country.
LANGUAGE_NAMES = {
    "abr": "Abron", "apc": "Levantine Arabic", "apd": "Sudanese Arabic", "bci": "Baoulé", "bjt": "Balanta-Ganja",
    "bqv": "Koro Wachi", "buc": "Bushi", "bvb": "Bube", "cab": "Garifuna", "ccr": "Cacaopera", "cja": "Western Cham",
    "cjm": "Eastern Cham", "cmn": "Mandarin Chinese", "dag": "Dagbani", "dnj": "Dan", "dty": "Dotyali",
    "ecy": "Eteocypriot", "ffm": "Maasina Fulfulde", "fia": "Nobiin", "fuc": "Pulaar", "fud": "East Futuna",
    "fuq": "Central-Eastern Niger Fulfulde", "fuv": "Nigerian Fulfulde", "fvr": "Fur", "gcr": "Guianese Creole French",
    "gos": "Gronings", "grt": "Garo", "haz": "Hazaragi", "hna": "Mina", "hns": "Caribbean Hindustani", "ife": "Ifè",
    "jml": "Jumli", "kbp": "Kabiyè", "kck": "Kalanga", "kdt": "Kuy", "kht": "Khamti", "kjg": "Khmu", "knf": "Mankanya",
    "kpg": "Kapingamarangi", "kun": "Kunama", "kxm": "Northern Khmer", "laj": "Lango", "leb": "Lala-Bisa",
    "len": "Lenca", "lep": "Lepcha", "maz": "Central Mazahua", "meu": "Motu", "mey": "Hassaniyya",
    "mfa": "Pattani Malay", "mfv": "Mandjak", "miq": "Mískito", "mls": "Masalit", "mnk": "Mandinka", "mnw": "Mon",
    "mwk": "Kita Maninkakan", "mxc": "Manyika", "nch": "Central Huasteca Nahuatl", "ndc": "Ndau", "ngl": "Lomwe",
    "nhe": "Eastern Huasteca Nahuatl", "nhw": "Western Huasteca Nahuatl", "nkr": "Nukuoro", "nod": "Northern Thai",
    "nrf": "Guernésiais and Jèrriais", "nse": "Nsenga", "pov": "Upper Guinea Crioulo", "ppl": "Pipil",
    "prd": "Parsi-Dari", "puu": "Punu", "rcf": "Réunion Creole French", "rkt": "Rangpuri", "rmf": "Kalo Finnish Romani",
    "rmm": "Roma", "rmu": "Tavringer Romani", "rng": "Ronga", "ryu": "Central Okinawan", "sav": "Saafi-Saafi",
    "sef": "Cebaara Senoufo", "skr": "Saraiki", "sou": "Southern Thai", "sov": "Sonsorol", "sre": "Sara",
    "swk": "Malawi Sena", "syl": "Sylheti", "toi": "Tonga", "tox": "Tobian", "tsj": "Tshangla",
    "tts": "Northeastern Thai", "uli": "Ulithian", "vic": "Virgin Islands Creole English", "wls": "Wallisian",
    "wni": "Ndzwani Comorian", "wof": "Gambian Wolof", "yua": "Yucatec Maya", "zdj": "Ngazidja Comorian",
    "zmi": "Negeri Sembilan Malay",
}  # fmt: skip
