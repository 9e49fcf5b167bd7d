"""What stands on real signs, as plain text, with the answer that a careful person gives from the text alone.

Written by hand from general knowledge. The first table was there before the detective was tried on it and was mended
by. The second came later as a held-out one; its five failures have been looked at once since, so it is no longer
blind. The third has signs that once got confident wrong answers, and others like them. One sign a row:

    kind ; lines, with " / " between them ; countries that are right ; latitude, longitude and reach in km

The point is where the town is that the sign is in or, for a sign with distances, about where it stands. A dash says
that the text does not tell: as countries, that a confident answer would be wrong; as a point, that the country is all.
"""

import re
from dataclasses import dataclass
from typing import Literal, get_args

from geosleuth.evidence import TextSeen
from geosleuth.geo import LatLon

SignKind = Literal["town", "street", "shop", "road", "distance", "words", "trap"]

_DISTANCE = re.compile(r"(\D+?) (\d+)(?: \w+)?")
_PIXELS_A_LETTER, _LETTER_PX, _LINE_PX = 16.0, 30.0, 60.0


@dataclass(frozen=True, slots=True)
class SignText:
    """One sign: what is on it, and what a careful person makes of it."""

    kind: SignKind
    lines: tuple[str, ...]
    countries: frozenset[str]
    point: LatLon | None
    reach_km: float

    @property
    def name(self) -> str:
        """The sign on one line."""
        return " / ".join(self.lines)

    held_out: bool = False

    @property
    def distances(self) -> list[tuple[str, float]]:
        """The towns with a figure behind them."""
        found = (_DISTANCE.fullmatch(line) for line in self.lines)
        return [(match[1], float(match[2])) for match in found if match]

    def seen(self) -> tuple[TextSeen, ...]:
        """The lines as a reader would give them, one below the other."""
        return tuple(
            TextSeen(
                text,
                "image-1",
                (40.0, 40 + _LINE_PX * row, 40 + _PIXELS_A_LETTER * len(text), 40 + _LINE_PX * row + _LETTER_PX),
                0.95,
                "latin",
            )
            for row, text in enumerate(self.lines)
        )


def sign_texts() -> list[SignText]:
    """All of them, in order."""
    return [
        _read(row, held_out=table is _HELD_OUT)
        for table in (_TABLE, _HELD_OUT, _MISLED)
        for row in table.strip().splitlines()
    ]


def _read(row: str, *, held_out: bool) -> SignText:
    kind, lines, countries, where = (part.strip() for part in row.split(";"))
    known: dict[str, SignKind] = {one: one for one in get_args(SignKind)}
    point, reach_km = None, 0.0
    if where != "-":
        lat, lon, reach_km = (float(part) for part in where.split())
        point = LatLon(lat, lon)
    codes = frozenset() if countries == "-" else frozenset(countries.split())
    return SignText(known[kind], tuple(part.strip() for part in lines.split(" / ")), codes, point, reach_km, held_out)


_TABLE = """
town ; Bad Tölz ; DE ; 47.76 11.56 20
town ; Llanfairpwllgwyngyll ; GB ; 53.22 -4.21 20
town ; Göteborg ; SE ; 57.71 11.97 30
town ; Kyoto / 京都 ; JP ; 35.01 135.77 30
town ; Praha 1 ; CZ ; 50.08 14.43 30
town ; Nürnberg Hbf ; DE ; 49.45 11.08 20
town ; Tromsø ; NO ; 69.65 18.96 30
town ; Garmisch-Partenkirchen / Kreis Garmisch-Partenkirchen ; DE ; 47.49 11.10 20
town ; Hallstatt ; AT ; 47.56 13.65 20
town ; Zermatt ; CH ; 46.02 7.75 20
town ; Colmar ; FR ; 48.08 7.36 25
town ; Saint-Malo ; FR ; 48.65 -2.03 25
town ; San Gimignano ; IT ; 43.47 11.04 20
town ; Comune di Positano ; IT ; 40.63 14.48 20
town ; Ronda ; ES ; 36.74 -5.17 25
town ; Zaragoza ; ES ; 41.65 -0.88 30
town ; Óbidos ; PT BR ; -
town ; Guimarães ; PT ; 41.44 -8.29 25
town ; Zakopane ; PL ; 49.30 19.95 25
town ; Gdańsk Główny ; PL ; 54.35 18.65 30
town ; Český Krumlov ; CZ ; 48.81 14.32 20
town ; Ljubljana ; SI ; 46.05 14.51 30
town ; Dubrovnik ; HR ; 42.65 18.09 30
town ; Szeged ; HU ; 46.25 20.15 30
town ; Cluj-Napoca ; RO ; 46.77 23.59 30
town ; Велико Търново ; BG ; 43.08 25.63 30
town ; Новосибирск ; RU ; 55.03 82.92 40
town ; Суздаль ; RU ; 56.42 40.45 30
town ; Львів ; UA ; 49.84 24.03 30
town ; Тбилиси ; GE ; 41.72 44.79 40
town ; თბილისი / Tbilisi ; GE ; 41.72 44.79 40
town ; Θεσσαλονίκη ; GR ; 40.64 22.94 30
town ; Nafplio ; GR ; 37.57 22.80 25
town ; İzmir ; TR ; 38.42 27.14 40
town ; Göreme ; TR ; 38.64 34.83 30
town ; ירושלים / Jerusalem ; IL PS ; 31.78 35.22 30
town ; دبي / Dubai ; AE ; 25.20 55.27 50
town ; مراكش / Marrakech ; MA ; 31.63 -8.00 30
town ; Luxor / الأقصر ; EG ; 25.69 32.64 30
town ; Varanasi ; IN ; 25.32 83.01 40
town ; जयपुर / Jaipur ; IN ; 26.91 75.79 40
town ; Kathmandu ; NP ; 27.71 85.32 40
town ; เชียงใหม่ ; TH ; 18.79 98.98 40
town ; Đà Nẵng ; VN ; 16.07 108.22 40
town ; Yogyakarta ; ID ; -7.80 110.36 40
town ; Kuching ; MY ; 1.55 110.34 40
town ; 广州 ; CN ; 23.13 113.26 60
town ; 台南 ; TW ; 22.99 120.21 40
town ; 부산 ; KR ; 35.18 129.08 40
town ; 札幌 ; JP ; 43.06 141.35 40
town ; 金沢 / Kanazawa ; JP ; 36.56 136.65 40
town ; Nairobi ; KE ; -1.29 36.82 40
town ; Stellenbosch ; ZA ; -33.93 18.86 30
town ; Ouagadougou ; BF ; 12.37 -1.52 40
town ; Antananarivo ; MG ; -18.91 47.54 40
town ; Wagga Wagga ; AU ; -35.11 147.37 40
town ; Queenstown ; NZ ZA ; -
town ; Rotorua ; NZ ; -38.14 176.25 40
town ; Albuquerque ; US ; 35.08 -106.65 50
town ; Welcome to Tucson ; US ; 32.22 -110.97 50
town ; Schenectady ; US ; 42.81 -73.94 40
town ; Saskatoon ; CA ; 52.13 -106.67 40
town ; Trois-Rivières ; CA ; 46.34 -72.54 40
town ; Oaxaca de Juárez ; MX ; 17.07 -96.72 40
town ; Bienvenidos a Mendoza ; AR ; -32.89 -68.84 50
town ; Valparaíso ; CL ; -33.05 -71.61 50
town ; Cusco ; PE ; -13.53 -71.97 50
town ; Bucaramanga ; CO ; 7.13 -73.12 40
town ; Florianópolis ; BR ; -27.60 -48.55 40
town ; Ouro Preto ; BR ; -20.39 -43.50 40
town ; Reykjavík ; IS ; 64.14 -21.93 30
town ; Rovaniemi ; FI ; 66.50 25.72 40
town ; Ålesund ; NO ; 62.47 6.15 30
town ; Aarhus ; DK ; 56.16 10.20 30
town ; Tartu ; EE ; 58.38 26.72 30
town ; Klaipėda ; LT ; 55.71 21.13 30
town ; Brugge ; BE ; 51.21 3.22 30
town ; Maastricht ; NL ; 50.85 5.69 30
town ; Galway / Gaillimh ; IE ; 53.27 -9.05 30
town ; Stow-on-the-Wold ; GB ; 51.93 -1.72 25
town ; Welcome to Whitby / Please drive carefully ; GB ; 54.48 -0.61 30
town ; Fáilte go Corcaigh / Welcome to Cork ; IE ; 51.90 -8.47 30
street ; Friedrichstraße / Berlin ; DE ; 52.52 13.40 40
street ; Rue de Rivoli / 4e Arrt ; FR ; -
street ; Via Garibaldi / Comune di Genova ; IT ; 44.41 8.93 30
street ; Calle Mayor ; ES ; -
street ; Abbey Road NW8 / City of Westminster ; GB ; 51.53 -0.18 30
street ; Rua Augusta / Lisboa ; PT ; 38.72 -9.14 40
street ; Keizersgracht ; NL ; -
street ; ul. Floriańska / Kraków ; PL ; 50.06 19.94 30
street ; улица Арбат / Москва ; RU ; 55.75 37.62 50
street ; Nádor utca / Budapest V. kerület ; HU ; 47.50 19.04 40
street ; Istiklal Caddesi / Beyoğlu ; TR ; 41.03 28.98 40
street ; Strada Lipscani / București ; RO ; 44.43 26.10 40
street ; Vesterbrogade / København V ; DK ; 55.68 12.57 40
street ; Drottninggatan / Stockholm ; SE ; 59.33 18.07 40
street ; Mannerheimintie / Mannerheimvägen ; FI ; -
shop ; Bäckerei Huber / Marktplatz 4 / 94032 Passau / Tel. 0851 12345 ; DE ; 48.57 13.46 25
shop ; Fish & Chips / High Street, Whitby / YO21 3PU ; GB ; 54.48 -0.61 30
shop ; Farmacia Centrale / Via Roma 12 / 53100 Siena ; IT ; 43.32 11.33 30
shop ; Boulangerie Patisserie / 69002 Lyon / 04 78 37 00 00 ; FR ; 45.76 4.83 30
shop ; Joe's Diner / Springfield, IL 62701 / (217) 555-0142 ; US ; 39.80 -89.65 40
shop ; Drogheria Rossi / www.drogheriarossi.it ; IT ; -
shop ; Peluquería Carmen / Tel. 958 22 10 10 / Granada ; ES ; 37.18 -3.60 30
shop ; Restaurace U Lva / www.ulva.cz / Olomouc ; CZ ; 49.59 17.25 30
shop ; Kwiaciarnia Róża / 31-042 Kraków ; PL ; 50.06 19.94 30
shop ; Slagerij Van Dam / 3511 LX Utrecht ; NL ; 52.09 5.12 30
shop ; Bageri & Konditori / 411 08 Göteborg ; SE ; 57.71 11.97 30
shop ; Apteekki / 33100 Tampere ; FI ; 61.50 23.76 30
shop ; Padaria Portuguesa / 4000-322 Porto ; PT ; 41.15 -8.61 30
shop ; Pão de Queijo / Belo Horizonte - MG / (31) 3222-1234 ; BR ; -19.92 -43.94 50
shop ; Tim's Hardware / Moose Jaw, SK / S6H 1A1 ; CA ; 50.39 -105.55 40
shop ; The Surf Shack / Byron Bay NSW 2481 ; AU ; -28.64 153.61 40
shop ; Gelateria / +39 055 234567 ; IT ; 43.77 11.25 40
shop ; 中村書店 / 電話 075-221-1234 ; JP ; 35.01 135.77 50
shop ; Мастерская / Екатеринбург / +7 343 371-22-33 ; RU ; 56.84 60.61 50
shop ; Taller Mecánico López / Guadalajara, Jalisco ; MX ; 20.67 -103.35 50
shop ; Sunny Guest House / Galle Road, Hikkaduwa ; LK ; 6.14 80.10 30
shop ; Kopitiam / George Town, Penang ; MY ; 5.41 100.33 40
shop ; Ferretería San José / Se vende hielo / Cuenca - Ecuador ; EC ; -2.90 -79.00 50
road ; M25 / Heathrow ; GB ; -
road ; A7 / Hamburg / Hannover ; DE ; -
road ; I-95 North / Philadelphia ; US ; 39.95 -75.17 150
road ; AP-7 / Girona ; ES ; 41.98 2.82 100
road ; A1 / Bologna / Firenze ; IT ; -
road ; E18 / Oslo / Drammen ; NO ; 59.80 10.40 80
road ; A8 / Nice / Monaco / Menton ; FR MC ; 43.74 7.40 60
road ; M8 / Glasgow / Edinburgh ; GB ; 55.90 -3.70 90
road ; N7 / Bloemfontein ; ZA ; -
road ; BR-101 / Natal / Recife ; BR ; -
road ; D1 / Brno / Bratislava ; CZ SK ; -
road ; Autoroute 20 / Québec / Montréal ; CA ; -
road ; Pacific Hwy / Newcastle / Sydney ; AU ; -
road ; Exit 24 / Yosemite / Fresno ; US ; -
road ; Ring Road / Akureyri / Egilsstaðir ; IS ; -
road ; Salida 12 / Toledo / Madrid ; ES ; -
road ; Sortie 5 / Annecy / Genève ; FR CH ; -
road ; Ausfahrt / Salzburg-Mitte ; AT ; 47.80 13.05 40
road ; Sports Centre / Wivenhoe Park / Conference Centre / Car Parks ; GB ; 51.87 0.95 30
road ; Keswick / Ambleside / Give Way ; GB ; 54.5 -3.05 40
distance ; Leeds 97 / Bristol 145 / Inverness 383 ; GB ; -
distance ; Lyon 210 km / Marseille 98 km ; FR ; 44.4 4.9 110
distance ; Seoul 56 km / Pyongyang 205 km ; KR KP ; 37.9 126.7 60
distance ; Turku 12 km / Helsinki 155 km ; FI ; 60.45 22.5 50
distance ; Barstow 32 mi / Las Vegas 188 mi ; US ; 34.6 -117.3 70
distance ; Wien 120 / Graz 75 ; AT ; 47.5 15.9 70
distance ; München 35 km / Salzburg 110 km ; DE ; 47.95 11.9 60
distance ; Madrid 305 / Zaragoza 20 ; ES ; 41.65 -0.88 60
distance ; Milano 45 / Bergamo 5 ; IT ; 45.69 9.67 40
distance ; Kingston 12 / Ottawa 180 / Toronto 255 ; CA ; 44.23 -76.5 100
distance ; Oslo 340 / Trondheim 155 / Dombås 20 ; NO ; 62.2 9.3 80
distance ; Sydney 250 / Canberra 40 ; AU ; -35.2 149.3 70
distance ; Nairobi 120 km / Nakuru 40 km ; KE ; -0.4 36.2 90
distance ; Москва 120 км / Тула 65 км ; RU ; 54.7 37.6 70
distance ; Santiago 90 / Valparaíso 30 ; CL ; -33.2 -71.3 60
distance ; York 24 / Leeds 2 ; GB ; 53.80 -1.55 40
words ; Car Park / Mind your head / Please queue here ; GB IE ; -
words ; No parking / Tow away zone / Sidewalk closed ; US CA ; -
words ; Estacionamiento / Se renta / Alto ; MX ; -
words ; Se alquila / Aparcamiento ; ES ; -
words ; Parqueadero / Se arrienda ; CO EC ; -
words ; Proibido estacionar / Ônibus / Farmácia ; BR ; -
words ; Proibido estacionar / Autocarros / Casa de banho ; PT ; -
words ; Arrêt / Stationnement interdit / Dépanneur ; CA ; -
words ; Trafik / Jänner / Parkgarage ; AT ; -
words ; Parkieren verboten / Velos / Strasse gesperrt ; CH LI ; -
words ; To Let / Estate Agents ; GB IE ; -
words ; Yield / Parking Garage / Center ; US ; -
words ; Footpath closed / Keep left / Robots ahead ; ZA ; -
words ; Fietspad / Doorgaand verkeer / Uitrit vrijlaten ; NL BE ; -
words ; Ljekarna / Parkiralište / Kolodvor ; HR BA ; -
words ; Apoteka / Železnička stanica ; RS BA ME ; -
words ; 停車場 / 出口 / 小心地滑 ; TW HK MO ; -
words ; 停车场 / 出口 / 小心地滑 ; CN SG ; -
trap ; OPEN ; - ; -
trap ; SALE / 50% OFF ; - ; -
trap ; PIZZA ; - ; -
trap ; PIZZA / KEBAB / BURGER ; - ; -
trap ; Maria ; - ; -
trap ; David & Anna ; - ; -
trap ; HAPPY BIRTHDAY ; - ; -
trap ; EXIT / PUSH ; - ; -
trap ; Coffee / Tea / Cake ; - ; -
trap ; Hair & Nails ; - ; -
trap ; Victoria ; - ; -
trap ; Lucky Star ; - ; -
trap ; TAXI ; - ; -
trap ; NO SMOKING ; - ; -
trap ; Orange ; - ; -
trap ; Coca-Cola ; - ; -
trap ; Café Paris / Frühstück täglich geöffnet / Montag Ruhetag ; DE AT ; -
trap ; Pizzeria Napoli / Öffnungszeiten / Dienstag geschlossen ; DE AT CH ; -
trap ; Hotel Bristol / Zimmer frei ; DE AT CH ; -
trap ; London Pub / Ouvert tous les jours ; FR BE CH CA ; -
trap ; Ristorante Venezia / Öppettider / Stängt söndag ; SE ; -
trap ; Levi Strauss / San Francisco / Ausverkauf / Hosen reduziert ; DE AT CH ; -
trap ; Milano Moda / Wyprzedaż / Zapraszamy ; PL ; -
trap ; Boston Bagel / Ouvert / Fermé le lundi ; FR BE CH CA ; -
"""

_HELD_OUT = """
town ; Rothenburg ob der Tauber ; DE ; 49.38 10.18 20
town ; Ytterby ; SE ; -
town ; Lillehammer ; NO ; 61.12 10.47 30
town ; Sintra ; PT ; 38.80 -9.38 25
town ; Albarracín ; ES ; 40.41 -1.44 25
town ; Carcassonne ; FR ; 43.21 2.35 25
town ; Matera ; IT ; 40.67 16.60 25
town ; Piran / Pirano ; SI ; 45.53 13.57 25
town ; Kotor ; ME ; 42.42 18.77 25
town ; Плевен ; BG ; 43.42 24.61 30
town ; Казань ; RU ; 55.79 49.12 40
town ; Одеса ; UA ; 46.48 30.73 40
town ; Ηράκλειο ; GR ; 35.34 25.13 30
town ; Trabzon ; TR ; 41.00 39.72 40
town ; حيفا / חיפה / Haifa ; IL ; 32.82 34.99 30
town ; Udaipur ; IN ; 24.58 73.68 40
town ; ขอนแก่น ; TH ; 16.43 102.83 40
town ; Huế ; VN ; 16.46 107.60 40
town ; Bandung ; ID ; -6.91 107.61 40
town ; 长沙 ; CN ; 28.23 112.94 60
town ; 高雄 ; TW ; 22.62 120.30 40
town ; 대전 ; KR ; 36.35 127.38 40
town ; 長崎 ; JP ; 32.75 129.88 40
town ; Ballarat ; AU ; -37.56 143.86 40
town ; Chattanooga ; US ; 35.05 -85.31 40
town ; Welcome to Fargo ; US ; 46.88 -96.79 40
town ; Bienvenue à Chicoutimi ; CA ; 48.43 -71.07 40
town ; Arequipa ; PE ; -16.41 -71.54 40
town ; Kumasi ; GH ; 6.69 -1.62 40
town ; Dublin 2 ; IE ; 53.35 -6.26 30
town ; Linz Hauptbahnhof ; AT ; 48.30 14.29 30
street ; Boulevard Saint-Michel / Paris 5e ; FR ; 48.85 2.34 30
street ; Herengracht / Amsterdam ; NL ; 52.37 4.89 30
street ; Gran Vía / Bilbao ; ES ; 43.26 -2.93 30
street ; Камергерский переулок ; RU ; -
shop ; Metzgerei Gruber / 6020 Innsbruck / +43 512 582112 ; AT ; 47.27 11.39 30
shop ; Café du Commerce / 1003 Lausanne ; CH ; 46.52 6.63 30
shop ; Trattoria da Gino / Lucca / Tel. 0583 467123 ; IT ; 43.84 10.50 30
shop ; Bob's Bait & Tackle / Duluth, MN ; US ; 46.79 -92.10 40
shop ; Cukrárna / 602 00 Brno ; CZ ; 49.20 16.61 30
shop ; Farmácia São João / Curitiba - PR ; BR ; -25.43 -49.27 40
road ; M6 / Preston / Lancaster ; GB ; 53.9 -2.75 60
road ; A9 / Nürnberg / Leipzig ; DE ; -
road ; I-80 West / Reno ; US ; -
road ; N340 / Cádiz ; ES ; 36.53 -6.29 80
distance ; Dijon 85 / Besançon 12 ; FR ; 47.25 6.0 50
distance ; Exeter 12 / Plymouth 34 ; GB ; 50.55 -3.75 50
distance ; Flagstaff 75 / Phoenix 68 ; US ; 34.3 -112.0 80
distance ; Kraków 45 km / Zakopane 58 km ; PL ; 49.7 19.9 60
words ; Tyres / Exhausts / MOT while you wait ; GB IE ; -
words ; Drive-thru / Restrooms / Liquor store ; US CA ; -
words ; Gomería / Kiosco / Remisería ; AR UY ; -
words ; Pollería / Se alquila cochera ; PE ; -
words ; Talho / Pastelaria / Telemóveis ; PT ; -
words ; Fleischhauerei / Tabak Trafik ; AT ; -
words ; 駐車場 / 営業中 ; JP ; -
trap ; CLOSED / Back soon ; - ; -
trap ; Sofia ; - ; -
trap ; Golden Dragon ; - ; -
trap ; 24 HOURS / ATM ; - ; -
trap ; Kebab Istanbul / Speisekarte / Zum Mitnehmen ; DE AT CH ; -
trap ; Tokyo Sushi / Livraison gratuite / Ouvert le dimanche ; FR BE CH CA ; -
"""

_MISLED = """
shop ; +212 5 28 77 82 10 ; MA ; 28.7 -10.5 110
shop ; 80000 أكادير / +212 5 28 77 82 10 ; MA ; 30.42 -9.60 40
shop ; +39 0541 783456 ; IT ; 44.06 12.57 40
shop ; Papelaria Oliveira / Tel. 239 824 112 / www.papelaria.pt ; PT ; 40.21 -8.43 40
shop ; Paul Hamilton Solicitors / www.ph-law.co.uk ; GB ; -
shop ; Trattoria Rossano / www.trattoria.it ; IT ; -
shop ; Carnicería Cuenca / Tel. 955 123 456 / www.carnicas.es ; ES ; 37.39 -5.98 40
shop ; Panadería Aranda / www.pan.es ; ES ; -
shop ; Restaurant Bordeaux / Tel. 01 42 60 12 34 ; FR ; 48.86 2.35 40
shop ; Tel 0113 243 1751 / www.shop.co.uk ; GB ; 53.80 -1.55 40
words ; Pékség / Nyitva / 490 Ft ; HU ; -
words ; www.laden.ch ; CH ; -
words ; Öffnungszeiten / www.laden.at ; AT ; -
words ; Otevírací doba / www.obchod.cz ; CZ ; -
shop ; +376 812 345 ; AD ; -
shop ; 28013 Madrid ; ES ; 40.42 -3.70 30
shop ; Calle de Alcalá 12 / 28013 Madrid ; ES ; 40.42 -3.70 30
trap ; 08-652 31 90 ; - ; -
shop ; +48 61 852 12 34 ; PL ; 52.41 16.93 40
shop ; +351 289 803 456 ; PT ; 37.02 -7.93 40
shop ; +30 2310 234567 ; GR ; 40.64 22.94 40
shop ; +381 21 452 123 ; RS ; 45.25 19.85 40
shop ; +33 5 56 44 12 34 ; FR ; -
shop ; Talho Guimarães / Tel. 289 803 456 / www.talho.pt ; PT ; 37.02 -7.93 40
shop ; Macelleria Pisano / Tel. 011 562 1234 / www.carni.it ; IT ; 45.07 7.69 40
shop ; Bäckerei Hamburger / Tel. 089 123456 / www.brot.de ; DE ; 48.14 11.58 40
shop ; Ferretería Toledo / Tel. 94 423 12 34 / www.clavos.es ; ES ; -
shop ; Piekarnia Tarnowski / tel. 61 852 12 34 / www.chleb.pl ; PL ; 52.41 16.93 40
shop ; Lincoln & Sons Plumbers / Tel 0117 929 1234 / www.pipes.co.uk ; GB ; 51.45 -2.59 40
shop ; Bageri Lund / Tel. 031-711 23 45 / www.brod.se ; SE ; 57.71 11.97 40
shop ; Boulangerie Lemans / 04 91 33 12 34 / www.pain.fr ; FR ; 43.30 5.37 40
words ; Lékárna / Otevřeno / 120 Kč ; CZ ; -
shop ; 1010 Wien / Bäckerei ; AT ; 48.21 16.37 30
street ; 14e Arr. / RUE DAGUERRE ; FR ; 48.83 2.33 15
street ; VIII. kerület / Baross utca ; HU ; 47.50 19.07 20
road ; Bus Stop / Harrogate Road / towards Leeds ; GB ; 53.88 -1.54 30
town ; Welcome to Sydney / Nova Scotia ; CA ; 46.14 -60.18 30
town ; Welcome to Paris / Texas ; US ; 33.66 -95.55 30
trap ; WA 12345 ; - ; -
words ; Ouvert du lundi au samedi / Fermé le dimanche ; FR BE CH CA ; -
shop ; Priory Galleries / at the Ship ; GB IE ; -
trap ; Florence ; - ; -
road ; M4 / Heathrow / Slough ; GB ; 51.49 -0.52 40
"""
