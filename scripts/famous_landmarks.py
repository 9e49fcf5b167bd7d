"""Famous sights, peaks and museums with their positions, written by hand: no package has them under clear terms.

Rows: kind, name (other names after ``|``), latitude, longitude, country. Positions are well-known facts, to about a
hundred metres for buildings and a kilometre for mountains and parks; ``build_landmarks.py`` checks that each lies in
its country. About a hundred of the world's sights: anything less famous needs an OpenStreetMap extract.
"""

LANDMARKS = """
monument;Eiffel Tower|Tour Eiffel|Eiffelturm|Torre Eiffel|エッフェル塔|埃菲尔铁塔;48.8584;2.2945;FR
museum;Louvre|Musée du Louvre|Louvre Museum;48.8606;2.3376;FR
church;Notre-Dame de Paris|Notre Dame;48.8530;2.3499;FR
church;Sacré-Cœur|Basilique du Sacré-Cœur;48.8867;2.3431;FR
monument;Arc de Triomphe;48.8738;2.2950;FR
palace;Palace of Versailles|Château de Versailles;48.8049;2.1204;FR
monument;Pont du Gard;43.9475;4.5350;FR
church;Mont-Saint-Michel|Mont Saint Michel;48.6361;-1.5115;FR
monument;Big Ben|Elizabeth Tower;51.5007;-0.1246;GB
monument;Tower Bridge;51.5055;-0.0754;GB
museum;British Museum;51.5194;-0.1270;GB
monument;Stonehenge;51.1789;-1.8262;GB
castle;Edinburgh Castle;55.9486;-3.1999;GB
nature;Giant's Causeway;55.2408;-6.5116;GB
nature;Cliffs of Moher|Aillte an Mhothair;52.9715;-9.4309;IE
monument;Colosseum|Colosseo|Coliseum;41.8902;12.4922;IT
monument;Trevi Fountain|Fontana di Trevi;41.9009;12.4833;IT
church;St Peter's Basilica|Basilica di San Pietro;41.9022;12.4539;VA
monument;Leaning Tower of Pisa|Torre di Pisa;43.7230;10.3966;IT
church;Milan Cathedral|Duomo di Milano;45.4641;9.1919;IT
church;Florence Cathedral|Santa Maria del Fiore|Duomo di Firenze;43.7731;11.2560;IT
church;St Mark's Basilica|Basilica di San Marco;45.4345;12.3397;IT
church;Sagrada Família|Sagrada Familia;41.4036;2.1744;ES
palace;Alhambra;37.1760;-3.5881;ES
museum;Prado|Museo del Prado;40.4138;-3.6921;ES
monument;Belém Tower|Torre de Belém;38.6916;-9.2160;PT
monument;Brandenburg Gate|Brandenburger Tor;52.5163;13.3777;DE
church;Cologne Cathedral|Kölner Dom;50.9413;6.9583;DE
castle;Neuschwanstein|Schloss Neuschwanstein;47.5576;10.7498;DE
palace;Schönbrunn|Schloss Schönbrunn;48.1845;16.3122;AT
monument;Atomium;50.8949;4.3415;BE
museum;Rijksmuseum;52.3600;4.8852;NL
monument;Little Mermaid|Den lille Havfrue;55.6929;12.5993;DK
nature;Preikestolen|Pulpit Rock;58.9863;6.1880;NO
church;Hallgrímskirkja;64.1417;-21.9266;IS
monument;Charles Bridge|Karlův most;50.0865;14.4114;CZ
castle;Wawel|Wawel Castle;50.0540;19.9354;PL
monument;Hungarian Parliament|Országház;47.5071;19.0457;HU
monument;Parthenon|Acropolis of Athens|Παρθενώνας|Ακρόπολη;37.9715;23.7267;GR
church;Hagia Sophia|Ayasofya;41.0086;28.9802;TR
palace;Moscow Kremlin|Кремль;55.7520;37.6175;RU
church;St Basil's Cathedral|Храм Василия Блаженного;55.7525;37.6231;RU
museum;Hermitage|Эрмитаж;59.9398;30.3146;RU
monument;Statue of Liberty;40.6892;-74.0445;US
monument;Empire State Building;40.7484;-73.9857;US
palace;White House;38.8977;-77.0365;US
monument;Golden Gate Bridge;37.8199;-122.4783;US
monument;Hollywood Sign;34.1341;-118.3215;US
monument;Space Needle;47.6205;-122.3493;US
monument;Gateway Arch;38.6247;-90.1848;US
monument;Mount Rushmore;43.8791;-103.4591;US
nature;Grand Canyon;36.1069;-112.1129;US
monument;CN Tower|Tour CN;43.6426;-79.3871;CA
nature;Niagara Falls|Chutes du Niagara;43.0799;-79.0747;CA
monument;Chichén Itzá|El Castillo|Chichen Itza;20.6843;-88.5678;MX
monument;Teotihuacan|Pyramid of the Sun|Pirámide del Sol;19.6925;-98.8438;MX
monument;Machu Picchu;-13.1631;-72.5450;PE
monument;Christ the Redeemer|Cristo Redentor;-22.9519;-43.2105;BR
nature;Iguazu Falls|Cataratas del Iguazú|Cataratas do Iguaçu;-25.6953;-54.4367;AR
monument;Ahu Tongariki|Moai;-27.1258;-109.2770;CL
monument;Great Pyramid of Giza|Pyramid of Khufu|الهرم الأكبر;29.9792;31.1342;EG
nature;Victoria Falls|Mosi-oa-Tunya;-17.9243;25.8572;ZW
nature;Table Mountain|Tafelberg;-33.9628;18.4098;ZA
monument;Petra|Al-Khazneh|البتراء;30.3285;35.4444;JO
monument;Western Wall|Kotel|הכותל המערבי;31.7767;35.2345;IL
monument;Kaaba|Masjid al-Haram|الكعبة;21.4225;39.8262;SA
monument;Burj Khalifa|برج خليفة;25.1972;55.2744;AE
monument;Burj Al Arab;25.1412;55.1853;AE
monument;Registan|Registon;39.6547;66.9758;UZ
monument;Taj Mahal|ताज महल;27.1751;78.0421;IN
temple;Golden Temple|Harmandir Sahib|ਹਰਿਮੰਦਰ ਸਾਹਿਬ;31.6200;74.8765;IN
monument;India Gate;28.6129;77.2295;IN
monument;Gateway of India;18.9220;72.8347;IN
palace;Potala Palace|布达拉宫;29.6558;91.1170;CN
palace;Forbidden City|故宫|紫禁城;39.9163;116.3972;CN
monument;Great Wall at Badaling|八达岭长城;40.3597;116.0200;CN
museum;Terracotta Army|兵马俑;34.3841;109.2785;CN
monument;Oriental Pearl Tower|东方明珠;31.2397;121.4998;CN
monument;Taipei 101|台北101;25.0339;121.5645;TW
monument;Tokyo Tower|東京タワー;35.6586;139.7454;JP
monument;Tokyo Skytree|東京スカイツリー;35.7101;139.8107;JP
temple;Fushimi Inari|伏見稲荷大社;34.9671;135.7727;JP
palace;Gyeongbokgung|경복궁;37.5796;126.9770;KR
monument;N Seoul Tower|남산서울타워;37.5512;126.9882;KR
temple;Angkor Wat|អង្គរវត្ត;13.4125;103.8670;KH
palace;Grand Palace|พระบรมมหาราชวัง;13.7500;100.4913;TH
temple;Wat Arun|วัดอรุณ;13.7437;100.4889;TH
temple;Shwedagon Pagoda|ရွှေတိဂုံဘုရား;16.7983;96.1497;MM
monument;Petronas Towers|Menara Petronas;3.1579;101.7116;MY
monument;Marina Bay Sands;1.2834;103.8607;SG
temple;Borobudur;-7.6079;110.2038;ID
monument;Sydney Opera House;-33.8568;151.2153;AU
nature;Uluru|Ayers Rock;-25.3444;131.0369;AU
peak;Mount Everest|Sagarmatha|Chomolungma|सगरमाथा|珠穆朗玛峰;27.9881;86.9250;NP
volcano;Mount Fuji|Fujisan|富士山;35.3606;138.7274;JP
volcano;Kilimanjaro;-3.0674;37.3556;TZ
peak;Matterhorn|Cervino|Mont Cervin;45.9763;7.6586;CH
peak;Mont Blanc|Monte Bianco;45.8326;6.8652;FR
peak;Denali|Mount McKinley;63.0692;-151.0070;US
peak;Aconcagua;-32.6532;-70.0109;AR
volcano;Mount Elbrus|Эльбрус;43.3499;42.4453;RU
volcano;Mount Vesuvius|Vesuvio;40.8210;14.4260;IT
volcano;Mount Etna|Etna;37.7510;14.9930;IT
"""
