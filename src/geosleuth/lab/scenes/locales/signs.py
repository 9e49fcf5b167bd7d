"""What signs say in each country, and things that stand in one country and speak of another."""

from dataclasses import dataclass

from .locale import land

WEST = (
    land(
        "DE", "de",
        "München;48.14;11.58;80331;89 | Leipzig;51.34;12.37;04109;341 | Freiburg;47.99;7.85;79098;761"
        " | Rostock;54.09;12.14;18055;381",
        "Bäckerei | Apotheke | Buchhandlung | Metzgerei | Blumenladen | Schuhmacher",
        "Bahnhofstraße | Goethestraße | Kirchgasse | Lindenallee", "12,50 € | 3,90 €", 10,
    ),
    land(
        "AT", "at",
        "Graz;47.07;15.44;8010;316 | Linz;48.31;14.29;4020;732 | Salzburg;47.80;13.04;5020;662"
        " | Villach;46.61;13.85;9500;4242",
        "Trafik | Konditorei | Fleischerei | Gasthaus | Apotheke | Bäckerei",
        "Annenstraße | Landstraße | Linzer Gasse | Hauptplatz", "12,50 € | € 3,90", 9,
    ),
    land(
        "CH", "ch",
        "Bern;46.95;7.45;3011;31 | Luzern;47.05;8.31;6003;41"
        " | Winterthur;47.50;8.72;8400;52 | Chur;46.85;9.53;7000;81",
        "Bäckerei Confiserie | Velo Werkstatt | Metzgerei | Coiffeur | Apotheke Drogerie | Papeterie",
        "Kramgasse | Pilatusstrasse | Marktgasse | Poststrasse", "CHF 14.50 | Fr. 3.80", 9,
    ),
    land(
        "FR", "fr",
        "Dijon;47.32;5.04;21000;380 | Nantes;47.22;-1.55;44000;240 | Grenoble;45.19;5.72;38000;476"
        " | Rennes;48.11;-1.68;35000;299",
        "Boulangerie Pâtisserie | Pharmacie | Boucherie Charcuterie | Tabac Presse | Librairie | Coiffeur",
        "Rue de la Liberté | Rue Crébillon | Boulevard Gambetta | Rue de Nemours", "12,50 € | 3,90 €", 9,
    ),
    land(
        "BE", "be",
        "Gent;51.05;3.72;9000;9 | Brugge;51.21;3.22;8000;50"
        " | Leuven;50.88;4.70;3000;16 | Kortrijk;50.83;3.26;8500;56",
        "Bakkerij | Frituur | Apotheek | Slagerij | Krantenwinkel | Kapper",
        "Veldstraat | Steenstraat | Bondgenotenlaan | Groeningestraat", "€ 4,50", 8,
    ),
    land(
        "NL", "nl",
        "Utrecht;52.09;5.12;3511 AB;30 | Groningen;53.22;6.57;9711 LM;50 | Delft;52.01;4.36;2611 GT;15"
        " | Maastricht;50.85;5.69;6211 CM;43",
        "Bakkerij | Fietsenwinkel | Slagerij | Apotheek | Boekhandel | Kaashandel",
        "Oudegracht | Herestraat | Nieuwstraat | Grote Gracht", "€ 4,50 | € 12,95", 9,
    ),
    land(
        "IT", "it",
        "Bologna;44.49;11.34;40121;051 | Torino;45.07;7.69;10121;011 | Lecce;40.35;18.17;73100;0832"
        " | Palermo;38.12;13.36;90133;091",
        "Farmacia | Panificio | Macelleria | Tabacchi | Gelateria | Libreria",
        "Via Indipendenza | Via Garibaldi | Piazza Mazzini | Via Maqueda", "€ 2,50 | € 12,00", 10,
    ),
    land(
        "ES", "es",
        "Sevilla;37.39;-5.99;41001;954 | Zaragoza;41.65;-0.88;50001;976 | Valladolid;41.65;-4.72;47001;983"
        " | Murcia;37.99;-1.13;30001;968",
        "Estanco | Panadería | Carnicería | Farmacia | Peluquería | Zapatería",
        "Calle Sierpes | Paseo de la Independencia | Calle Santiago | Calle Platería", "2,50 € | 12,00 €", 9,
    ),
    land(
        "PT", "pt",
        "Coimbra;40.21;-8.43;3000;239 | Braga;41.55;-8.42;4700;253 | Évora;38.57;-7.91;7000;266"
        " | Faro;37.02;-7.93;8000;289",
        "Pastelaria | Talho | Farmácia | Papelaria | Sapataria | Mercearia",
        "Rua Ferreira Borges | Rua do Souto | Praça do Giraldo | Rua de Santo António", "2,50 € | 0,80 €", 9,
    ),
    land(
        "BR", "com.br",
        "Curitiba;-25.43;-49.27;80010-000;413 | Recife;-8.05;-34.88;50010-000;813"
        " | Belo Horizonte;-19.92;-43.94;30110-000;313 | Porto Alegre;-30.03;-51.22;90010-000;513",
        "Padaria | Açougue | Borracharia | Lanchonete | Farmácia | Mercearia",
        "Rua XV de Novembro | Avenida Boa Viagem | Rua da Bahia | Rua dos Andradas", "R$ 12,50 | R$ 4,90", 10,
    ),
    land(
        "AR", "com.ar",
        "Rosario;-32.95;-60.65;S2000;341 | Mendoza;-32.89;-68.83;M5500;261 | Salta;-24.79;-65.41;A4400;387"
        " | Mar del Plata;-38.00;-57.55;B7600;223",
        "Kiosco | Panadería | Verdulería | Carnicería | Parrilla | Farmacia",
        "Av. Pellegrini | Av. San Martín | Calle Caseros | Av. Colón", "$ 4.500", 10,
    ),
    land(
        "MX", "com.mx",
        "Puebla;19.04;-98.20;72000;222 | Oaxaca;17.06;-96.72;68000;951 | Mérida;20.97;-89.62;97000;999"
        " | Querétaro;20.59;-100.39;76000;442",
        "Abarrotes | Tortillería | Farmacia | Papelería | Taquería | Carnicería",
        "Calle 5 de Mayo | Calle Macedonio Alcalá | Paseo de Montejo | Av. Corregidora", "$ 85.00 MXN", 10,
    ),
    land(
        "CL", "cl",
        "Valparaíso;-33.05;-71.62;;322 | Concepción;-36.83;-73.05;;412 | Temuco;-38.74;-72.60;;452"
        " | La Serena;-29.90;-71.25;;512",
        "Botillería | Panadería | Ferretería | Almacén | Vulcanización | Farmacia",
        "Avenida Pedro Montt | Calle O'Higgins | Calle Bulnes | Calle Balmaceda", "$ 4.990", 9,
    ),
    land(
        "PE", "com.pe",
        "Arequipa;-16.40;-71.54;04001;54 | Cusco;-13.53;-71.97;08002;84 | Trujillo;-8.11;-79.03;13001;44"
        " | Piura;-5.19;-80.63;20001;73",
        "Botica | Chifa | Pollería | Bodega | Ferretería | Panadería",
        "Calle Mercaderes | Avenida El Sol | Jirón Pizarro | Jirón Tacna", "S/ 12.50 | S/ 8.00", 8,
    ),
    land(
        "CO", "com.co",
        "Medellín;6.24;-75.58;050001;604 | Cali;3.45;-76.53;760001;602 | Bucaramanga;7.12;-73.12;680001;607"
        " | Manizales;5.07;-75.52;170001;606",
        "Droguería | Panadería | Miscelánea | Papelería | Asadero | Ferretería",
        "Carrera 50 | Calle 12 | Carrera 27 | Avenida Santander", "$ 12.000", 10,
    ),
    land(
        "GB", "co.uk",
        "Leeds;53.80;-1.55;LS1 5DL;113 | Bristol;51.45;-2.59;BS1 4DJ;117 | Norwich;52.63;1.30;NR2 1NH;1603"
        " | Inverness;57.48;-4.22;IV1 1HY;1463",
        "Fish & Chips | Newsagent | Off Licence | Butchers | Chemist | Greengrocer",
        "The Headrow | Park Street | St Giles Street | Church Street", "£3.20 | £12.50", 10,
    ),
    land(
        "IE", "ie",
        "Galway;53.27;-9.06;;91 | Cork;51.90;-8.47;;21 | Limerick;52.66;-8.63;;61 | Sligo;54.27;-8.47;;71",
        "Oifig an Phoist | Siopa | Off Licence | Butchers | Chemist | Bookmakers",
        "Sráid na Siopaí | Patrick Street | O'Connell Street | Stephen Street", "€3.20", 8,
    ),
    land(
        "US", "com",
        "Portland, OR;45.52;-122.68;97204;503"
        " | Austin, TX;30.27;-97.74;78701;512 | Madison, WI;43.07;-89.40;53703;608"
        " | Savannah, GA;32.08;-81.09;31401;912",
        "Drugstore | Diner | Liquor Store | Hardware | Barber Shop | Pawn Shop",
        "SW Morrison St | Congress Ave | State St | Abercorn St", "$12.50 | $3.99", 10,
    ),
    land(
        "CA", "ca",
        "Halifax, NS;44.65;-63.58;B3J 1S9;902 | Calgary, AB;51.05;-114.07;T2P 1J9;403"
        " | Victoria, BC;48.43;-123.37;V8W 1P6;250 | Winnipeg, MB;49.90;-97.14;R3C 1A5;204",
        "Hardware | Pharmacy | Beer & Wine | Barber Shop | Bakery | Poutine",
        "Barrington Street | Stephen Avenue | Government Street | Portage Avenue", "C$12.50 | $3.99", 10,
    ),
    land(
        "AU", "com.au",
        "Hobart TAS;-42.88;147.33;7000;362 | Adelaide SA;-34.93;138.60;5000;882 | Cairns QLD;-16.92;145.77;4870;740"
        " | Geelong VIC;-38.15;144.36;3220;352",
        "Bottle Shop | Milk Bar | Fish & Chips | Chemist | Newsagency | Butcher",
        "Elizabeth Street | Rundle Street | Abbott Street | Moorabool Street", "$12.50 | $3.90", 9,
    ),
    land(
        "NZ", "co.nz",
        "Dunedin;-45.87;170.50;9016;347 | Napier;-39.49;176.91;4110;683 | Nelson;-41.27;173.28;7010;354"
        " | Hamilton;-37.79;175.28;3204;783",
        "Dairy | Takeaways | Fish & Chips | Butchery | Panelbeaters | Chemist",
        "George Street | Emerson Street | Trafalgar Street | Victoria Street", "$12.50 | $3.90", 8,
    ),
    land(
        "ZA", "co.za",
        "Durban;-29.86;31.02;4001;31 | Bloemfontein;-29.12;26.21;9301;51 | Polokwane;-23.90;29.45;0699;15"
        " | Stellenbosch;-33.93;18.86;7600;21",
        "Slaghuis | Drankwinkel | Apteek | Biltong | Padstal | Bottle Store",
        "Anton Lembede Street | Nelson Mandela Drive | Landdros Mare Street | Dorpstraat", "R 49.99 | R 15.00", 9,
    ),
    land(
        "PL", "pl",
        "Kraków;50.06;19.94;31-042;12 | Gdańsk;54.35;18.65;80-831;58 | Lublin;51.25;22.57;20-002;81"
        " | Wrocław;51.11;17.04;50-101;71",
        "Apteka | Piekarnia | Księgarnia | Kwiaciarnia | Sklep spożywczy | Cukiernia",
        "ul. Floriańska | ul. Długa | ul. Kościuszki | ul. Świdnicka", "19,90 zł | 4,50 zł", 9, own=True,
    ),
    land(
        "CZ", "cz",
        "Brno;49.20;16.61;602 00;542 | Plzeň;49.74;13.38;301 00;377 | Olomouc;49.59;17.25;779 00;585"
        " | Liberec;50.77;15.06;460 01;485",
        "Lékárna | Pekařství | Řeznictví | Knihkupectví | Potraviny | Cukrárna",
        "Masarykova | Náměstí Republiky | Palackého | Husova", "125 Kč | 49 Kč", 9, own=True,
    ),
    land(
        "SK", "sk",
        "Košice;48.72;21.26;040 01;55 | Žilina;49.22;18.74;010 01;41 | Nitra;48.31;18.09;949 01;37"
        " | Prešov;49.00;21.24;080 01;51",
        "Lekáreň | Pekáreň | Mäsiarstvo | Kníhkupectvo | Potraviny | Kvetinárstvo",
        "Hlavná | Štefánikova | Námestie slobody | Mlynská", "4,50 €", 9, own=True,
    ),
    land(
        "HU", "hu",
        "Debrecen;47.53;21.63;4024;52 | Szeged;46.25;20.15;6720;62"
        " | Pécs;46.07;18.23;7621;72 | Győr;47.68;17.63;9021;96",
        "Gyógyszertár | Pékség | Könyvesbolt | Virágbolt | Húsbolt | Cukrászda",
        "Kossuth utca | Petőfi Sándor utca | Széchenyi tér | Rákóczi út", "1 250 Ft | 490 Ft", 8, own=True,
    ),
    land(
        "RO", "ro",
        "Cluj-Napoca;46.77;23.60;400001;264 | Iași;47.16;27.59;700028;232 | Brașov;45.65;25.60;500030;268"
        " | Craiova;44.32;23.80;200585;251",
        "Farmacie | Brutărie | Librărie | Florărie | Cofetărie | Magazin alimentar",
        "Strada Memorandumului | Strada Lăpușneanu | Strada Republicii | Calea București", "12,50 lei | 4 lei", 9,
    ),
    land(
        "BG", "bg",
        "Пловдив;42.15;24.75;4000;32 | Варна;43.21;27.91;9000;52"
        " | Бургас;42.50;27.47;8000;56 | Русе;43.85;25.95;7000;82",
        "Аптека | Хлебарница | Книжарница | Сладкарница | Цветя | Хранителни стоки",
        "ул. Иван Вазов | бул. Сливница | ул. Александровска | ул. Борисова", "", 8,
    ),
    land(
        "GR", "gr",
        "Θεσσαλονίκη;40.64;22.94;546 24;2310 | Πάτρα;38.25;21.73;262 21;2610 | Ηράκλειο;35.34;25.13;712 02;2810"
        " | Λάρισα;39.64;22.42;412 22;2410",
        "Φαρμακείο | Αρτοποιείο | Βιβλιοπωλείο | Κρεοπωλείο | Ζαχαροπλαστείο | Ανθοπωλείο",
        "Οδός Τσιμισκή | Οδός Κορίνθου | Πλατεία Ελευθερίας | Οδός Κύπρου", "3,50 €", 10, own=True,
    ),
    land(
        "RU", "ru",
        "Казань;55.79;49.12;420111;843 | Самара;53.20;50.15;443099;846 | Томск;56.49;84.95;634050;3822"
        " | Пермь;58.01;56.25;614000;342",
        "Аптека | Продукты | Цветы | Парикмахерская | Книги | Хлеб",
        "улица Баумана | Ленинградская улица | проспект Ленина | улица Сибирская", "150 ₽ | 89 руб.", 10,
    ),
    land(
        "UA", "ua",
        "Львів;49.84;24.03;79008;32 | Одеса;46.48;30.73;65026;48 | Полтава;49.59;34.55;36000;532"
        " | Чернівці;48.29;25.93;58002;372",
        "Книгарня | Аптека | Продукти | Хліб | Перукарня | Квіти",
        "проспект Свободи | вулиця Дерибасівська | вулиця Соборності | вулиця Університетська",
        "85 грн | 45 грн", 9, own=True,
    ),
    land(
        "RS", "rs",
        "Нови Сад;45.25;19.85;21000;21 | Ниш;43.32;21.90;18000;18 | Крагујевац;44.01;20.92;34000;34"
        " | Суботица;46.10;19.67;24000;24",
        "Пекара | Апотека | Књижара | Месара | Цвећара | Продавница",
        "Улица Змај Јовина | Обреновићева | Улица Краља Петра | Корзо", "250 дин.", 8,
    ),
    land(
        "HR", "hr",
        "Split;43.51;16.44;21000;21 | Osijek;45.55;18.69;31000;31"
        " | Rijeka;45.33;14.44;51000;51 | Zadar;44.12;15.23;23000;23",
        "Ljekarna | Pekarnica | Mesnica | Knjižara | Cvjećarnica | Slastičarnica",
        "Marmontova ulica | Kapucinska ulica | Korzo | Široka ulica", "4,50 €", 8,
    ),
    land(
        "SI", "si",
        "Maribor;46.55;15.65;2000;2 | Celje;46.23;15.26;3000;3 | Kranj;46.24;14.36;4000;4 | Koper;45.55;13.73;6000;5",
        "Lekarna | Pekarna | Mesnica | Knjigarna | Cvetličarna | Slaščičarna",
        "Gosposka ulica | Prešernova ulica | Glavni trg | Čevljarska ulica", "4,50 €", 8, own=True,
    ),
    land(
        "TR", "com.tr",
        "İzmir;38.42;27.14;35250;232 | Bursa;40.19;29.06;16010;224 | Trabzon;41.00;39.72;61030;462"
        " | Konya;37.87;32.48;42040;332",
        "Eczane | Fırın | Kasap | Kuaför | Kırtasiye | Lokanta",
        "Cumhuriyet Caddesi | Atatürk Caddesi | Uzun Sokak | Mevlana Caddesi", "85,00 TL | ₺40", 10, own=True,
    ),
    land(
        "SE", "se",
        "Uppsala;59.86;17.64;753 10;18 | Malmö;55.60;13.00;211 20;40 | Umeå;63.83;20.26;903 26;90"
        " | Örebro;59.27;15.21;702 11;19",
        "Bokhandel | Bageri | Apotek | Blomsterhandel | Frisör | Livsmedel",
        "Kungsgatan | Södra Förstadsgatan | Storgatan | Drottninggatan", "125 kr | 39:-", 8,
    ),
    land(
        "NO", "no",
        "Bergen;60.39;5.32;5014;55 | Trondheim;63.43;10.40;7011;73 | Tromsø;69.65;18.96;9008;77"
        " | Stavanger;58.97;5.73;4006;51",
        "Bokhandel | Bakeri | Apotek | Blomsterbutikk | Frisør | Dagligvare",
        "Torgallmenningen | Kongens gate | Storgata | Kirkegata", "149 kr | kr 39,-", 8,
    ),
    land(
        "DK", "dk",
        "Aarhus;56.16;10.20;8000;86 | Odense;55.40;10.40;5000;66"
        " | Aalborg;57.05;9.92;9000;98 | Esbjerg;55.47;8.45;6700;75",
        "Boghandel | Bageri | Slagter | Apotek | Blomster | Frisør",
        "Ryesgade | Vestergade | Boulevarden | Kongensgade", "125 kr. | 39,95 kr.", 8,
    ),
    land(
        "IS", "is",
        "Akureyri;65.68;-18.10;600;462 | Selfoss;63.93;-21.00;800;482 | Ísafjörður;66.07;-23.13;400;456"
        " | Egilsstaðir;65.27;-14.40;700;471",
        "Apótek | Bakarí | Bókabúð | Blómabúð | Hárgreiðslustofa | Sundlaug",
        "Hafnarstræti | Austurvegur | Aðalstræti | Fagradalsbraut", "990 kr.", 7, own=True,
    ),
    land(
        "FI", "fi",
        "Tampere;61.50;23.76;33100;3 | Oulu;65.01;25.47;90100;8 | Turku;60.45;22.27;20100;2"
        " | Jyväskylä;62.24;25.75;40100;14",
        "Apteekki | Leipomo | Kirjakauppa | Kukkakauppa | Parturi | Kahvila",
        "Hämeenkatu | Isokatu | Yliopistonkatu | Kauppakatu", "12,50 €", 8, own=True,
    ),
    land(
        "EE", "ee",
        "Tartu;58.38;26.72;51003;73 | Pärnu;58.39;24.50;80010;44 | Viljandi;58.36;25.60;71020;43"
        " | Rakvere;59.35;26.36;44306;32",
        "Apteek | Pagariäri | Raamatupood | Lillepood | Juuksur | Toidukauplus",
        "Ülikooli | Rüütli tänav | Tallinna tänav | Pikk tänav", "4,50 €", 7, own=True,
    ),
    land(
        "LV", "lv",
        "Daugavpils;55.87;26.54;LV-5401;654 | Liepāja;56.51;21.01;LV-3401;634 | Jelgava;56.65;23.71;LV-3001;630"
        " | Valmiera;57.54;25.43;LV-4201;642",
        "Aptieka | Maiznīca | Grāmatnīca | Ziedi | Frizētava | Pārtika",
        "Rīgas iela | Lielā iela | Brīvības iela | Kuldīgas iela", "4,50 €", 8, own=True,
    ),
    land(
        "LT", "lt",
        "Kaunas;54.90;23.90;44280;37 | Klaipėda;55.71;21.13;91247;46 | Šiauliai;55.93;23.32;76295;41"
        " | Panevėžys;55.73;24.36;35171;45",
        "Vaistinė | Kepykla | Knygynas | Gėlės | Kirpykla | Maisto prekės",
        "Laisvės alėja | Tiltų gatvė | Vilniaus gatvė | Respublikos gatvė", "4,50 €", 8, own=True,
    ),
)  # fmt: skip


EAST = (
    land(
        "JP", "co.jp",
        "京都市;35.01;135.77;〒604-8005;75 | 札幌市;43.06;141.35;〒060-0001;11 | 福岡市;33.59;130.40;〒810-0001;92"
        " | 金沢市;36.56;136.66;〒920-0981;76",
        "ラーメン | クリーニング | パン工房 | たばこ | カラオケ | おみやげ",
        "四条通 | すすきの駅前通 | 明治通り | 大手町", "480円 | ¥1,200", 9, own=True,
    ),
    land(
        "KR", "co.kr",
        "부산광역시;35.18;129.08;47545;51 | 대구광역시;35.87;128.60;41911;53 | 전주시;35.82;127.15;54999;63"
        " | 제주시;33.50;126.53;63122;64",
        "약국 | 빵집 | 서점 | 미용실 | 세탁소 | 분식",
        "중앙대로 | 동성로 | 한옥마을길 | 관덕로", "5,000원 | 12,000원", 9, own=True,
    ),
    land(
        "CN", "cn",
        "成都市;30.57;104.07;610000;288 | 西安市;34.34;108.94;710000;298 | 南京市;32.06;118.80;210000;258"
        " | 昆明市;25.04;102.72;650000;871",
        "药店 | 面馆 | 书店 | 理发店 | 超市 | 饭店",
        "人民南路 | 解放路 | 中山路 | 金碧路", "15元 | 28元", 10, own=True,
    ),
    land(
        "TW", "com.tw",
        "台南市;22.99;120.21;700;62 | 台中市;24.15;120.67;400;42"
        " | 花蓮縣;23.98;121.60;970;38 | 高雄市;22.63;120.30;800;73",
        "藥局 | 麵館 | 便當 | 早餐店 | 牛肉麵 | 書局",
        "民族路 | 自由路 | 中正路 | 五福路", "NT$120", 8,
    ),
    land(
        "HK", "com.hk",
        "旺角;22.32;114.17 | 沙田;22.38;114.19 | 銅鑼灣;22.28;114.18 | 荃灣;22.37;114.11",
        "茶餐廳 | 藥房 | 麵家 | 冰室 | 書局 | 地產",
        "彌敦道 | 大埔道 | 軒尼詩道 | 沙咀道", "HK$48 | HK$120",
    ),
    land(
        "TH", "co.th",
        "เชียงใหม่;18.79;98.98;50000;53 | ขอนแก่น;16.43;102.83;40000;43 | ภูเก็ต;7.88;98.39;83000;76"
        " | อยุธยา;14.35;100.57;13000;35",
        "ร้านขายยา | ร้านอาหาร | ก๋วยเตี๋ยว | ร้านหนังสือ | ร้านตัดผม | โรงแรม",
        "ถนนท่าแพ | ถนนมิตรภาพ | ถนนกลาง | ถนนนเรศวร", "60 บาท", 8, own=True,
    ),
    land(
        "VN", "vn",
        "Huế;16.46;107.59;49000;2343 | Đà Nẵng;16.05;108.22;50000;2363 | Cần Thơ;10.03;105.78;94000;2923"
        " | Nha Trang;12.25;109.19;57000;2583",
        "Nhà thuốc | Phở bò | Tiệm bánh mì | Hiệu sách | Cà phê | Tạp hóa",
        "Đường Lê Lợi | Đường Trần Phú | Đường Nguyễn Huệ | Đường 30 Tháng 4", "45.000đ", 10, own=True,
    ),
    land(
        "ID", "co.id",
        "Yogyakarta;-7.80;110.37;55111;274 | Bandung;-6.92;107.61;40111;22 | Surabaya;-7.26;112.75;60271;31"
        " | Makassar;-5.14;119.42;90111;411",
        "Warung Makan | Apotek | Toko Buku | Tukang Cukur | Rumah Makan Padang | Bengkel",
        "Jalan Malioboro | Jalan Braga | Jalan Tunjungan | Jalan Somba Opu", "Rp 25.000", 9,
    ),
    land(
        "MY", "com.my",
        "Ipoh;4.60;101.08;30000;5 | Kuching;1.55;110.34;93000;82 | Kota Bharu;6.13;102.24;15000;9"
        " | Melaka;2.19;102.25;75000;6",
        "Kedai Makan | Farmasi | Kedai Runcit | Kedai Gunting Rambut | Restoran Mamak | Klinik",
        "Jalan Sultan Iskandar | Jalan Padungan | Jalan Temenggong | Jalan Hang Jebat", "RM 8.50", 8,
    ),
    land(
        "PH", "ph",
        "Cebu City;10.32;123.89;6000;322 | Davao City;7.07;125.61;8000;822 | Baguio City;16.41;120.60;2600;744"
        " | Iloilo City;10.72;122.56;5000;333",
        "Sari-Sari Store | Botika | Panaderya | Carinderia | Lechon Manok | Vulcanizing",
        "Colon Street | San Pedro Street | Session Road | J.M. Basa Street", "₱ 85.00", 9,
    ),
    land(
        "IN", "in",
        "जयपुर;26.92;75.79;302001;1412 | लखनऊ;26.85;80.95;226001;5222 | भोपाल;23.26;77.41;462001;7552"
        " | वाराणसी;25.32;82.99;221001;5422",
        "भोजनालय | दवाखाना | किराना स्टोर | मिठाई की दुकान | पुस्तक भंडार | वस्त्रालय",
        "महात्मा गांधी मार्ग | हजरतगंज | जवाहर मार्ग | स्टेशन रोड", "₹ 120", 10,
    ),
    land(
        "IN", "in",
        "மதுரை;9.93;78.12;625001;4522 | சேலம்;11.66;78.15;636001;4272 | திருச்சி;10.79;78.70;620001;4312"
        " | கோயம்புத்தூர்;11.02;76.96;641001;4222",
        "உணவகம் | மருந்தகம் | புத்தகக் கடை | இனிப்பகம்", "காந்தி சாலை | கடை வீதி", "₹ 120", 10,
    ),
    land(
        "IN", "in",
        "హైదరాబాద్;17.39;78.49;500001;402 | విజయవాడ;16.51;80.65;520001;8662 | విశాఖపట్నం;17.69;83.22;530001;8912"
        " | వరంగల్;17.97;79.59;506002;8702",
        "హోటల్ | మందుల షాపు | పుస్తకాలు | మిఠాయి", "గాంధీ రోడ్డు | స్టేషన్ రోడ్డు", "₹ 120", 10,
    ),
    land(
        "IN", "in",
        "ಮೈಸೂರು;12.30;76.64;570001;8212 | ಹುಬ್ಬಳ್ಳಿ;15.36;75.12;580020;8362 | ಮಂಗಳೂರು;12.91;74.86;575001;8242"
        " | ಬೆಳಗಾವಿ;15.85;74.50;590001;8312",
        "ಹೋಟೆಲ್ | ಔಷಧಿ ಅಂಗಡಿ | ಪುಸ್ತಕ ಮಳಿಗೆ | ಬೇಕರಿ", "ಗಾಂಧಿ ರಸ್ತೆ | ನಿಲ್ದಾಣ ರಸ್ತೆ", "₹ 120", 10,
    ),
    land(
        "IN", "in",
        "കൊച്ചി;9.93;76.27;682001;4842 | കോഴിക്കോട്;11.25;75.78;673001;4952 | തൃശൂർ;10.53;76.21;680001;4872"
        " | കണ്ണൂർ;11.87;75.37;670001;4972",
        "ചായക്കട | മെഡിക്കൽ സ്റ്റോർ | പുസ്തകശാല | ബേക്കറി", "ഗാന്ധി റോഡ് | സ്റ്റേഷൻ റോഡ്", "₹ 120", 10,
    ),
    land(
        "IN", "in",
        "અમદાવાદ;23.03;72.58;380001;792 | સુરત;21.17;72.83;395003;2612 | વડોદરા;22.31;73.18;390001;2652"
        " | રાજકોટ;22.30;70.80;360001;2812",
        "ભોજનાલય | મેડિકલ સ્ટોર | પુસ્તક ભંડાર | મીઠાઈ", "ગાંધી રોડ | સ્ટેશન રોડ", "₹ 120", 10,
    ),
    land(
        "IN", "in",
        "ਅੰਮ੍ਰਿਤਸਰ;31.63;74.87;143001;1832 | ਲੁਧਿਆਣਾ;30.90;75.86;141001;1612 | ਜਲੰਧਰ;31.33;75.58;144001;1812"
        " | ਪਟਿਆਲਾ;30.34;76.39;147001;1752",
        "ਢਾਬਾ | ਮੈਡੀਕਲ ਸਟੋਰ | ਕਿਤਾਬ ਘਰ | ਕਰਿਆਨਾ ਸਟੋਰ", "ਮਾਲ ਰੋਡ | ਸਟੇਸ਼ਨ ਰੋਡ", "₹ 120", 10,
    ),
    land(
        "LK", "lk",
        "කොළඹ;6.93;79.85;00100;112 | මහනුවර;7.29;80.64;20000;812"
        " | ගාල්ල;6.05;80.22;80000;912 | මාතර;5.95;80.54;81000;412",
        "ෆාමසිය | හෝටලය | බේකරිය | පොත් හල", "ගාලු පාර | කොළඹ වීදිය", "Rs. 350", 9, own=True,
    ),
    land(
        "BD", "com.bd",
        "সিলেট;24.90;91.87;3100 | চট্টগ্রাম;22.36;91.78;4000 | খুলনা;22.82;89.55;9000 | রাজশাহী;24.37;88.60;6000",
        "ফার্মেসি | মিষ্টির দোকান | রেস্তোরাঁ | বইঘর", "স্টেশন রোড | জিন্দাবাজার", "৳ 120",
    ),
    land(
        "NP", "com.np",
        "काठमाडौं;27.72;85.32;44600;14 | पोखरा;28.21;83.99;33700;615 | विराटनगर;26.45;87.27;56613;215"
        " | ललितपुर;27.67;85.32;44700;15",
        "औषधि पसल | किराना पसल | चिया पसल | खाजा घर", "नयाँ सडक | पुल्चोक मार्ग", "रु 150", 8,
    ),
    land(
        "PK", "pk",
        "لاہور;31.55;74.34;54000;423 | کراچی;24.86;67.01;74200;213"
        " | پشاور;34.02;71.52;25000;915 | ملتان;30.20;71.47;60000;614",
        "میڈیکل سٹور | بیکری | کتاب گھر | ہوٹل", "مال روڈ | صدر بازار", "Rs. 350", 10,
    ),
    land(
        "IR", "ir",
        "اصفهان;32.65;51.67;;313 | شیراز;29.59;52.58;;713 | تبریز;38.08;46.29;;413 | مشهد;36.30;59.61;;513",
        "داروخانه | نانوایی | کتابفروشی | رستوران", "خیابان امام خمینی | بلوار چمران", "", 10,
    ),
    land(
        "IL", "co.il",
        "חיפה;32.79;34.99;3303142;48 | באר שבע;31.25;34.79;8400711;86 | נתניה;32.33;34.86;4240133;98"
        " | ירושלים;31.78;35.22;9423001;26",
        "בית מרקחת | מאפייה | ספרים | פיצוחים | מכולת | פלאפל",
        "רחוב הרצל | שדרות רגר | רחוב ויצמן | רחוב יפו", "35 ₪", 8, own=True,
    ),
    land(
        "EG", "com.eg",
        "الإسكندرية;31.20;29.92;;34 | الأقصر;25.69;32.64;;952 | أسوان;24.09;32.90;;972 | طنطا;30.79;31.00;;403",
        "صيدلية | مخبز | كشري | مقهى", "شارع النصر | شارع الكورنيش", "25 جنيه", 9,
    ),
    land(
        "SA", "com.sa",
        "جدة;21.54;39.17;21442;126 | الدمام;26.43;50.10;32242;138 | أبها;18.22;42.51;62521;172"
        " | المدينة المنورة;24.47;39.61;42311;148",
        "صيدلية | بقالة | مطعم | مغسلة", "شارع الملك فهد | طريق المدينة", "25 ريال", 9,
    ),
    land(
        "AE", "ae",
        "العين;24.21;55.76;;37 | الشارقة;25.35;55.42;;65 | رأس الخيمة;25.79;55.94;;72 | دبي;25.20;55.27;;42",
        "صيدلية | بقالة | مخبز | مطعم", "شارع خليفة | شارع الوحدة", "AED 25", 8,
    ),
    land(
        "MA", "ma",
        "فاس;34.03;-5.00;30000;535 | مراكش;31.63;-8.00;40000;524 | طنجة;35.77;-5.80;90000;539"
        " | أكادير;30.42;-9.60;80000;528",
        "صيدلية | مخبزة | مقهى | مكتبة", "شارع محمد الخامس | شارع الحسن الثاني", "25 DH", 9,
    ),
    land(
        "GE", "ge",
        "ქუთაისი;42.27;42.70;4600;431 | ბათუმი;41.65;41.64;6000;422 | გორი;41.98;44.11;1400;370"
        " | თელავი;41.92;45.47;2200;350",
        "აფთიაქი | საცხობი | წიგნები | ყვავილები | რესტორანი | მაღაზია",
        "რუსთაველის ქუჩა | აღმაშენებლის ქუჩა", "12 ლარი", 9, own=True,
    ),
    land(
        "AM", "am",
        "Գյումրի;40.79;43.85;3101;312 | Վանաձոր;40.81;44.49;2001;322 | Երևան;40.18;44.51;0010;105"
        " | Դիլիջան;40.74;44.86;3901;268",
        "Դեղատուն | Խանութ | Ծաղիկներ | Գրախանութ | Վարսավիրանոց | Հաց",
        "Աբովյան փողոց | Տիգրան Մեծի պողոտա", "", 8, own=True,
    ),
    land(
        "ET", "et",
        "ጎንደር;12.60;37.47;;581 | ሐዋሳ;7.06;38.48;;462 | መቀሌ;13.50;39.47;;344 | ባህር ዳር;11.59;37.39;;582",
        "መድኃኒት ቤት | ምግብ ቤት | ሆቴል | ዳቦ ቤት", "", "", 9,
    ),
    land(
        "KE", "co.ke",
        "Kisumu;-0.09;34.77;40100;57 | Nakuru;-0.30;36.07;20100;51 | Eldoret;0.51;35.27;30100;53"
        " | Mombasa;-4.04;39.67;80100;41",
        "Duka la Dawa | Nyama Choma | Hoteli | Kinyozi | M-Pesa | Posho Mill",
        "Oginga Odinga Street | Kenyatta Avenue | Uganda Road | Moi Avenue", "KSh 250", 9,
    ),
    land(
        "TZ", "co.tz",
        "Arusha;-3.37;36.68;;27 | Mwanza;-2.52;32.90;;28 | Dodoma;-6.16;35.75;;26 | Tanga;-5.07;39.10;;27",
        "Duka la Dawa | Kinyozi | Mgahawa | Nyama Choma", "Barabara ya Sokoine | Barabara ya Nyerere", "TSh 5,000", 9,
    ),
    land(
        "NG", "com.ng",
        "Ibadan;7.38;3.95 | Enugu;6.44;7.50 | Kaduna;10.52;7.44 | Port Harcourt;4.82;7.03",
        "Suya Spot | Barbing Salon | Provision Store | Pharmacy | Vulcanizer | Mama Put",
        "Ring Road | Ogui Road | Ahmadu Bello Way | Aba Road", "₦ 1,500",
    ),
    land(
        "MM", "com.mm",
        "မန္တလေး;21.97;96.08;;2 | ပဲခူး;17.34;96.48;;52 | ရန်ကုန်;16.80;96.15;;1 | မော်လမြိုင်;16.49;97.63;;57",
        "ဆေးဆိုင် | ဟိုတယ် | စာအုပ်ဆိုင် | စားသောက်ဆိုင်", "", "1500 ကျပ်", own=True,
    ),
    land(
        "KZ", "kz",
        "Қарағанды;49.80;73.10;100000;7212 | Шымкент;42.32;69.60;160000;7252 | Алматы;43.24;76.91;050000;727"
        " | Астана;51.17;71.43;010000;7172",
        "Дәріхана | Дүкен | Шаштараз | Кітап дүкені", "Абай даңғылы | Бейбітшілік көшесі", "1500 ₸", 10,
    ),
)  # fmt: skip


SMALL_LANDS = (
    land(
        "MC", "mc", "Monaco;43.73;7.42;98000;9 | Monte-Carlo;43.74;7.43;98000;9 | La Condamine;43.73;7.42;98000;9"
        " | Fontvieille;43.73;7.41;98000;9",
        "Boulangerie | Pharmacie | Tabac Presse | Coiffeur | Restaurant | Fleuriste",
        "Rue Grimaldi | Boulevard des Moulins | Rue Caroline | Avenue Albert II", "12,50 € | 3,90 €", 8,
    ),
    land(
        "AD", "ad", "Andorra la Vella;42.51;1.52;AD500;8 | Escaldes-Engordany;42.51;1.53;AD700;8"
        " | Encamp;42.53;1.58;AD200;8 | Canillo;42.57;1.60;AD100;8",
        "Forn de pa | Farmàcia | Carnisseria | Llibreria | Perruqueria | Ferreteria",
        "Avinguda Meritxell | Avinguda Carlemany | Carrer Major | Plaça del Poble", "12,50 € | 3,90 €", 6,
    ),
)  # fmt: skip

COACHES = {
    "DE": "Reisen", "AT": "Reisen", "CH": "Carreisen", "FR": "Voyages", "BE": "Autocars", "NL": "Touringcars",
    "IT": "Viaggi", "ES": "Autocares", "PT": "Viagens", "BR": "Turismo", "AR": "Viajes", "MX": "Viajes",
    "PL": "Autokary", "CZ": "Autobusy", "SK": "Autobusy", "HU": "Busz", "HR": "Putovanja", "SI": "Potovanja",
    "SE": "Buss", "NO": "Buss", "DK": "Turist", "FI": "Bussit", "TR": "Turizm", "GB": "Coaches", "IE": "Coaches",
    "RO": "Transport", "EE": "Reisid", "LV": "Autobusi", "LT": "Kelionės",
}  # fmt: skip
"""What firms that run buses call themselves behind the name of their town."""
_NAMED_AFTER_TOWNS = (
    "IT; Ristorante Venezia | IT; Pizzeria Napoli | IT; Gelateria Firenze | IT; Caffè Roma | FR; Café Paris"
    " | FR; Brasserie Lyon | FR; Salon Versailles | GB; London Pub | GB; Hotel Bristol | GB; Oxford Barber"
    " | US; Boston Bagel | US; Manhattan Grill | US; Chicago Diner | TR; Istanbul Kebap | TR; Ankara Market"
    " | CN; Restaurant Shanghai | CN; Peking Garden | JP; Tokyo Sushi | JP; Osaka Ramen | GR; Taverna Athen"
    " | GR; Kreta Grill | ES; Bar Sevilla | ES; Bodega Granada | AT; Café Wien | DE; Berlin Döner"
    " | PT; Café Lisboa | IN; Bombay Palace | IN; Delhi Tandoori | TH; Bangkok Massage | VN; Saigon Bistro"
    " | LB; Beirut Grill | CU; Havana Bar | EG; Cairo Lounge | MX; Cancun Cantina | KR; Seoul Kitchen"
)
SURNAMES = {
    "DE": ("Hamburger", "Bamberger", "Neustadt", "Mannheimer"), "AT": ("Steyrer", "Wiener", "Brucker", "Leobner"),
    "FR": ("Lyon", "Bordeaux", "Nevers", "Toulouse"), "IT": ("Pisano", "Rossano", "Messina", "Genovese"),
    "ES": ("Cuenca", "Toledo", "Aranda", "Soria"), "PT": ("Oliveira", "Guimarães", "Viana", "Leiria"),
    "BR": ("Santos", "Campos", "Natal", "Niterói"), "AR": ("Córdoba", "Tucumán", "Luján", "Paraná"),
    "MX": ("Durango", "León", "Tampico", "Morelos"), "CO": ("Pereira", "Armenia", "Ibagué", "Córdoba"),
    "GB": ("Hamilton", "Lincoln", "Preston", "Durham"), "NL": ("Van Delden", "Van Dam", "Van Breda", "Van Tilburg"),
    "PL": ("Tarnowski", "Krakowski", "Zamojski", "Toruński"), "SE": ("Lund", "Borås", "Sandviken", "Boden"),
    "DK": ("Holstebro", "Vejle", "Skive", "Ribe"), "NO": ("Molde", "Hamar", "Moss", "Halden"),
    "HU": ("Budai", "Szegedi", "Egri", "Váci"), "CZ": ("Kolín", "Tábor", "Písek", "Most"),
    "FI": ("Lahti", "Salo", "Kotka", "Rauma"),
}  # fmt: skip
"""Names of people that are names of towns, too, or come from one."""


@dataclass(frozen=True, slots=True)
class Cue:
    """What is written, and the country that it speaks of."""

    sort: str
    country: str
    lines: tuple[str, ...]


def _cues(sort: str, text: str) -> tuple[Cue, ...]:
    found = []
    for part in text.split("|"):
        country, *lines = (word.strip() for word in part.split(";"))
        found.append(Cue(sort, country, tuple(lines)))
    return tuple(found)


CUES = (
    *_cues(
        "airline",
        "DE; Lufthansa; Frankfurt | FR; Air France; Paris | NL; KLM; Amsterdam | ES; Iberia; Madrid"
        " | PT; TAP Air Portugal; Lisboa | TR; Turkish Airlines; İstanbul | AE; Emirates; Dubai | FI; Finnair"
        " | PL; LOT Polish Airlines; Warszawa | IS; Icelandair; Reykjavík | GR; Aegean; Athens | CH; Swiss; Zürich"
        " | IE; Ryanair; Dublin | GB; British Airways; London | AU; Qantas; Sydney | NZ; Air New Zealand"
        " | JP; Japan Airlines; Tokyo | KR; Korean Air; Seoul | TH; Thai Airways; Bangkok | VN; Vietnam Airlines"
        " | ID; Garuda Indonesia; Bali | ET; Ethiopian Airlines | KE; Kenya Airways; Nairobi | CO; Avianca; Bogotá"
        " | MX; Aeroméxico; Cancún | CA; Air Canada; Toronto | US; Delta Air Lines; New York",
    ),
    *_cues(
        "foreign chain",
        "CA; Tim Hortons | FR; Carrefour | DE; Lidl | JP; UNIQLO | ES; Zara | SE; IKEA | PH; Jollibee | US; McDonald's"
        " | US; Starbucks Coffee | US; Domino's Pizza | ES; Mango | IT; United Colors of Benetton | SE; H&M"
        " | FR; Decathlon | NL; SPAR | DE; ALDI | GB; Costa Coffee | GB; Marks & Spencer | ZA; Nando's | JP; MUJI"
        " | FR; Sephora | CH; Migros | PT; Pingo Doce | KR; Paris Baguette",
    ),
    *_cues(
        "imported product",
        "NL; Heineken; Amsterdam | IE; Guinness; Dublin | JP; Asahi; アサヒビール | DE; Miele; Made in Germany"
        " | IT; Barilla; Pasta Italiana | FR; Perrier; Source Vergèze France | MX; Corona; Cerveza de México"
        " | PL; Żubrówka; Polska Wódka | DK; Carlsberg; København | BE; Stella Artois; Leuven | CN; Tsingtao; 青岛啤酒"
        " | TR; Efes; Türkiye | TH; Singha; เบียร์สิงห์ | JP; Kikkoman; しょうゆ | IE; Jameson; Irish Whiskey"
        " | IT; Lavazza; Torino | CZ; Pilsner Urquell; Plzeň",
    ),
    *_cues(
        "foreign kitchen",
        "CN; 北京饭店; Chinese Restaurant | IT; Trattoria Napoli; Pizza al forno | GR; Ταβέρνα; Greek Taverna"
        " | TR; İstanbul Kebap; Döner | TH; ร้านอาหารไทย; Thai Food | KR; 한국식당; Korean BBQ | JP; すし; Sushi Bar"
        " | IN; Taj Mahal; Indian Curry | VN; Phở Hà Nội; Vietnamese Food | GE; ხინკალი; Georgian Kitchen"
        " | MX; Cantina Oaxaca; Tacos | DE; Bayrischer Biergarten; Münchner Bier",
    ),
)  # fmt: skip
"""Tour buses are made up on the spot, from a town of another country and a number there."""


NAMED_AFTER_TOWNS = _cues("shop called after a town", _NAMED_AFTER_TOWNS)
