"""Street names of countries that share a language and yet call their streets after other people and things."""

from dataclasses import dataclass
from typing import Final


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
