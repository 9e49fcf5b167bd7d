"""What signs say in Europe, the Americas and the English-speaking south; see `geosleuth.world.lands`."""

from .land import land

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
