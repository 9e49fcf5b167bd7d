"""How shops and streets are called in the languages of Europe, and in those that came from there."""

from .locale import language

GERMANIC = (
    language(
        "de",
        "Bäckerei/Backstube | Apotheke | Metzgerei/Fleischerei | Buchhandlung/Bücherstube | Friseur/Haarstudio"
        " | Restaurant/Wirtshaus/Gaststätte | Konditorei/Kaffeehaus | Blumen/Gärtnerei | Hotel/Pension"
        " | Lebensmittel/Feinkost | Schuhhaus/Schuhe | Modehaus/Trachten | Eisenwaren/Werkzeuge | Optik/Brillen"
        " | Autowerkstatt/Kfz-Technik | Imbiss/Grillstube",
        "Huber | Brandstetter | Weidinger | Schönfeld | Kröger | Lindemann | Osterkamp | Pfeiffer"
        " | Rademacher | Steinhauser | Tiefenbach | Wagenknecht | Zellner | Eichhorn | Grünwald | Haselmann"
        " | Jungwirth | Kaltenegger | Lohmeyer | Moosbrugger | Niederberger | Obermaier | Rotbach"
        " | Sommerfeld | Buchleitner | Dornhöfer | Feldkirchner | Kesselring",
        "zur Linde | am Brunnen | zum Hirschen | Edelweiß | am Stadttor | zur alten Mühle | zum Anker"
        " | am Rathausplatz | Sonnenhof | Rosengarten | zur Brücke | am Turm | Morgenstern | Silberdistel"
        " | zum Schwan | Drei Tannen | Lindenblüte | am Mühlbach",
        "am Markt | zur Post | Krone | zum Löwen",
        forms="{trade} {person} | {trade} {house} | {person} & {second} {trade} | {trade} {person} & Sohn",
        street_forms="{}straße | {}gasse | {}weg",
        street_stems="Linden | Garten | Schul | Mühl | Berg | Wiesen | Brunnen | Kloster | Ring | Feld | Rosen"
        " | Turm | Schloss | Burg | Eichen | Bach | Gerber | Weber | Sonnen | Kastanien",
        streets="Hauptstraße | Bahnhofstraße | Marktplatz | Kirchgasse | Am Graben | Lange Straße"
        " | Schillerstraße | Mozartstraße | Obere Gasse | Neumarkt",
        chains="B: Backfreund | S: Schuhland | P: Vitabunt Apotheke | W: Haus & Hof Markt | K: Modewerk"
        " | C: Kaffeeglück | O: Brillenwelt Nord | R: Gastro Stern",
    ),
    language(
        "nl",
        "Bakkerij | Apotheek | Slagerij/Keurslager | Boekhandel | Kapsalon/Kapper | Restaurant/Eethuis"
        " | Lunchroom/Koffiehuis | Bloemenhuis/Bloemist | Hotel/Herberg | Buurtsuper/Kruidenier"
        " | Schoenen/Schoenmakerij | Mode/Kledinghuis | IJzerwaren/Doe-het-zelf | Brillen/Opticien"
        " | Garage/Autobedrijf | Frietkot/Snackbar",
        "De Vries | Van den Berg | Jansen | Bakkers | Hendriks | Dijkstra | Mulder | De Groot | Verhoeven"
        " | Kuipers | Van Leeuwen | Smeets | Willems | Peeters | Claes | Maertens | Vermeulen | De Smet"
        " | Hoekstra | Postma",
        "De Gouden Ster | 't Hoekje | De Korenbloem | De Zwaan | De Oude Molen | Het Anker | De Linde"
        " | De Zonnebloem | De Wilg | Het Wapen | De Drie Torens | De Haven | 't Pleintje | De Pelikaan",
        "De Markt | Centrum | De Brug",
        forms="{trade} {person} | {trade} {house} | {trade} {person} & {second} | Gebroeders {person} {trade}",
        street_forms="{}straat | {}laan | {}weg",
        street_stems="Molen | Linden | School | Beuken | Vliet | Haven | Wilgen | Kastanje | Zand | Berken"
        " | Klooster | Spoor | Eiken | Gaarden | Vis | Koren | Park",
        streets="Kerkstraat | Stationsstraat | Dorpsstraat | Grote Markt | Hoogstraat | Nieuwstraat"
        " | Lange Gracht | Koningin Astridlaan | Wilhelminastraat",
        chains="B: Broodhoek | G: Voordeelhuis | S: Schoentjes & Zo | W: Schroevenhoek"
        " | K: Kleurrijk Kleding | C: Koffieland | O: Brilplein",
    ),
    language(
        "en",
        "Bakery/Bakehouse | Pharmacy/Dispensary | Butchers/Meat Market | Books/Bookshop | Hair/Barbers"
        " | Kitchen/Grill | Coffee/Tea Room | Florist/Flowers | Inn/Guest House/Hotel | Stores/Grocery"
        " | Shoes/Footwear | Clothing/Outfitters | Hardware/Tools | Eyecare/Opticians | Motors/Auto Repair"
        " | Takeaway/Pizza",
        "Ashworth | Barrowman | Caldwell | Dunmore | Ellery | Fenwick | Garside | Hollis | Ingram | Jarvis"
        " | Kendrick | Lockhart | Merriman | Norwood | Oakley | Pemberton | Quigley | Redfern | Saunders"
        " | Tennant | Underhill | Varley | Whitlock | Yardley | Bancroft | Crowther | Dalrymple | Farrow"
        " | Gillespie | Hargreaves | Lonsdale | McAllister | O'Rourke | Prescott | Rutherford | Sinclair"
        " | Thackeray | Wetherby | Abernathy | Blackwood",
        "Golden Acorn | Blue Heron | Copper Kettle | Rising Tide | Old Mill | Silver Birch | Red Lantern"
        " | Two Rivers | Hilltop | Meadowlark | Three Oaks | Lighthouse | Cornerstone | Wild Thyme | Anchor"
        " | Stonebridge | Willow Tree | Harvest Moon | Fox & Hound | Morning Star | Cedar Grove | Ironbridge"
        " | Bluebell | Sandpiper",
        "Corner | Station | Riverside | Main Street | Crown",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person}'s {trade} | {person} & Sons {trade} | {house} {trade} | {person} & {second} {trade}"
        " | The {house} {trade} Co | {person} Family {trade}",
        street_forms="{} Street | {} Road | {} Avenue | {} Lane",
        street_stems="Mill | Park | Oak | Maple | Bridge | River | Hill | School | Garden | Elm | Spring"
        " | Orchard | Cedar | Union | Prospect | Chestnut | Forest | Meadow | Willow | Queen | Albert"
        " | Wellington",
        streets="Main Street | High Street | Station Road | Church Street | Market Street | King Street"
        " | Victoria Road | Broadway | The Parade | Front Street",
        chains="B: Breadwell | P: Pillbox Pharmacy | K: Threadneedle & Coe | A: Quickspanner"
        " | C: Brewhouse Lane | W: Hearth & Hammer | G: Sparrow Foods | O: Clearview Eyes | X: Wrapsody Lane"
        " | S: Stepwise",
    ),
    language(
        "af",
        "Bakkery | Apteek | Slaghuis/Vleismark | Boekwinkel | Haarkapper | Restaurant/Eetplek | Koffiewinkel"
        " | Bloemiste | Gastehuis/Herberg | Kettingwinkel/Handelaars | Skoene | Klerewinkel"
        " | Hardeware/Bouers | Brille/Oogkundiges | Motors/Bande | Wegneemetes/Braaiplek",
        "Van der Merwe | Botha | Pretorius | Du Plessis | Coetzee | Nel | Steyn | Venter | Fourie | Kruger"
        " | Swanepoel | Le Roux | Oosthuizen | Terblanche | Vosloo | Labuschagne",
        "Die Ou Meul | Kameelboom | Die Waenhuis | Protea | Springbok | Die Melkbos | Bergzicht | Soutpan"
        " | Die Akker | Karoo | Rooigras | Kokerboom",
        "Sentrum | Hoek | Voortrekker",
        forms="{person} {trade} | {house} {trade} | {person} & {second} {trade} | {person} Broers {trade}",
        street_forms="{}straat | {}weg | {} Avenue", common_form="{house} {trade}", town_form="{town} {trade}",
        street_stems="Kerk | Mark | Loop | Voortrekker | Eike | Plein | Rivier | Berg | Skool | Pastorie"
        " | Palm | Buiten",
        streets="Church Street | Long Street | Nelson Mandela Drive | Voortrekker Road | Hoofstraat"
        " | Station Road",
        chains="R: Boerekos | A: Bandeland | G: Sonskyn Supermark | S: Skoenstad | P: Medi-Hoek"
        " | X: Oom Piet se Braai",
    ),
    language(
        "sv",
        "Bageri/Konditori | Apotek | Charkuteri/Kötthandel | Bokhandel | Frisör/Salong | Restaurang/Krog"
        " | Kafé/Fik | Blommor/Blomsterhandel | Hotell/Vandrarhem | Livs/Handelsbod | Skor | Kläder/Mode"
        " | Järnhandel | Optik | Bilverkstad/Däckservice | Gatukök/Korvkiosk",
        "Lindqvist | Sjöberg | Hedlund | Åkesson | Norrman | Östlund | Bergström | Ekdahl | Forsell"
        " | Granath | Häggblom | Wikander | Rosengren | Stenmark | Björklund | Söderholm",
        "Gyllene Hjorten | Tre Kronor | Lilla Torget | Vita Svanen | Björken | Röda Stugan | Solrosen"
        " | Hamnboden | Gamla Kvarnen | Blåklockan | Ankaret | Norrsken",
        "Centrum | Stora Torget | Stationen",
        forms="{trade} {person} | {trade} {house} | {person} & {second} {trade} | {person}s {trade}",
        street_forms="{}gatan | {}vägen | {}gränd",
        street_stems="Björk | Skol | Kvarn | Sjö | Hamn | Trädgårds | Linné | Ring | Fabriks | Strand | Ek"
        " | Smed | Backa",
        streets="Storgatan | Kungsgatan | Järnvägsgatan | Kyrkogatan | Stora Torget | Västra Vägen | Nygatan",
        chains="B: Brödkorgen | S: Skolådan | G: Närboden | C: Fikastunden | W: Verktygshuset"
        " | O: Glasögonbutiken Syn",
    ),
    language(
        "no",
        "Bakeri/Konditori | Apotek | Slakter/Kjøttbutikk | Bokhandel | Frisør/Salong | Restaurant/Kro"
        " | Kafé/Kaffebrenneri | Blomster | Hotell/Gjestehus | Dagligvare/Landhandel | Skotøy/Skomaker"
        " | Klær/Motehus | Jernvare | Brilleland | Bilverksted/Dekkservice | Gatekjøkken/Pølsebua",
        "Haugen | Bakken | Lunde | Solberg | Nygård | Fossum | Strømme | Tveit | Rødland | Myklebust"
        " | Øvrebø | Skaar | Granli | Vestby | Aasen | Bjørnstad",
        "Gamle Brygge | Fjellstua | Tre Søstre | Nordlys | Fiskekroken | Rosehagen | Krokanrud | Blåbær"
        " | Elvebredden | Ørneredet | Tyttebær | Havblikk",
        "Sentrum | Torget | Brygga",
        forms="{trade} {person} | {trade} {house} | {person} & {second} {trade} | {person}s {trade}",
        street_forms="{}gata | {}veien",
        street_stems="Skole | Havne | Bjørke | Strand | Mølle | Fjell | Elve | Sjø | Hage | Bakke | Nordre"
        " | Furu | Fabrikk",
        streets="Storgata | Kirkegata | Torggata | Jernbanegata | Dronningens gate | Nygata | Kongens gate",
        chains="B: Brødboden | S: Skobua Nord | G: Nærhandel | C: Kaffetåra | W: Jernkroken | O: Synsvinkel",
    ),
    language(
        "da",
        "Bageri/Brødhus | Apotek | Slagter/Slagteri | Boghandel | Frisør/Salon | Restaurant/Kro"
        " | Konditori/Kaffebar | Blomster/Gartneri | Hotel/Gæstgivergård | Købmand/Kolonial | Skotøj/Sko"
        " | Tøj/Herretøj | Isenkram | Briller/Optiker | Autoværksted/Dækcenter | Grill/Pølsevogn",
        "Kjærgaard | Bundgaard | Søndergård | Vestergaard | Østergaard | Højlund | Dalsgaard | Mogensen"
        " | Lauridsen | Thygesen | Bæk | Skovgaard | Frandsen | Nørgaard | Bruun | Holmegaard",
        "Den Gamle Smedje | Svanen | Den Blå Hane | Hjørnet | Møllehuset | Rosenhaven | Ankerhus"
        " | Den Gyldne Bønne | Tre Hjerter | Havnekroen | Solsikken | Klokketårnet",
        "Centrum | Torvet | Strøget",
        forms="{trade} {person} | {trade} {house} | {person} & {second} {trade} | {person}s {trade}",
        street_forms="{}gade | {}vej",
        street_stems="Skole | Mølle | Havne | Birke | Skov | Engle | Fisker | Rosen | Strand | Kloster"
        " | Smede | Lærke",
        streets="Algade | Vestergade | Østergade | Jernbanegade | Nørregade | Torvet | Kirkestræde",
        chains="B: Brødkurven | S: Skotøjsgården | G: Nabokøb | C: Kaffestuen | W: Søm & Skrue"
        " | O: Øjeblik Optik",
    ),
    language(
        "is",
        "Bakarí | Apótek | Kjötbúð | Bókabúð | Hárstofa/Rakarastofa | Veitingahús | Kaffihús | Blómabúð"
        " | Gistiheimili/Hótel | Verslun/Kjörbúð | Skóbúð | Fataverslun | Byggingavörur | Gleraugnaverslun"
        " | Bílaverkstæði/Dekkjaverkstæði | Pylsuvagn/Grill",
        "Jóns | Guðrúnar | Sigurðar | Kristínar | Ólafs | Helgu | Bjarna | Þórunnar | Einars | Ragnheiðar"
        " | Stefáns | Ásdísar",
        "Fálkinn | Norðurljós | Hornið | Lundinn | Sólin | Bryggjan | Krían | Hvalurinn | Eldfjallið"
        " | Vitinn | Birkið | Lóan",
        "Miðbær | Torgið | Höfnin",
        forms="{trade} {person} | {trade} {house} | {trade} {person} og {second}",
        street_forms="{}gata | {}vegur | {}braut",
        street_stems="Skóla | Hafnar | Birki | Hlíðar | Sjávar | Fjalla | Vallar | Mýrar | Fjarðar | Brekku",
        streets="Aðalgata | Austurgata | Strandgata | Vesturgata | Ráðhústorg | Kirkjustræti",
        chains="B: Brauðhornið | O: Sjónarhorn | S: Skóhúsið Skref",
    ),
)  # fmt: skip


NORTH_EAST = (
    language(
        "el",
        "Αρτοποιείο/Φούρνος | Φαρμακείο | Κρεοπωλείο/Κρεαταγορά | Βιβλιοπωλείο | Κομμωτήριο/Κουρείο"
        " | Ταβέρνα/Εστιατόριο | Καφενείο/Ζαχαροπλαστείο | Ανθοπωλείο | Ξενοδοχείο/Πανδοχείο"
        " | Παντοπωλείο/Μίνι Μάρκετ | Υποδήματα | Ενδύματα/Ραφείο | Σιδηρικά/Εργαλεία | Οπτικά"
        " | Συνεργείο/Ελαστικά | Ψητοπωλείο/Σουβλάκια",
        "Αντωνίου | Βασιλείου | Γεωργίου | Δημητρίου | Ζαχαρίας | Ιωάννου | Καραγιάννης | Λάμπρου | Μανώλης"
        " | Νικολάου | Οικονόμου | Παππάς | Σταύρου | Χατζής",
        "Ο Πλάτανος | Η Γοργόνα | Το Στέκι | Η Ελιά | Ο Φάρος | Τα Κύματα | Ο Μύλος | Η Βρύση | Το Αστέρι"
        " | Ο Κήπος | Η Ακρόπολη | Το Λιμάνι | Η Ανεμώνη | Τα Αδέλφια",
        "Το Κέντρο | Η Πλατεία | Ο Σταθμός",
        forms="{trade} {person} | {trade} {house} | {trade} {person} & {second} | {trade} Αφοί {person}",
        street_forms="Οδός {} | Λεωφόρος {}",
        street_stems="Ερμού | Βενιζέλου | Κολοκοτρώνη | Αγίου Δημητρίου | Σόλωνος | Ομήρου | Αριστοτέλους"
        " | Μιαούλη | Αγίου Νικολάου | Περικλέους | Ρήγα Φεραίου | Ευριπίδου | Δημοκρατίας",
        streets="Πλατεία Δημαρχείου | Οδός Εθνικής Αντιστάσεως | Λεωφόρος Ειρήνης | Οδός 25ης Μαρτίου"
        " | Πλατεία Συντάγματος",
        chains="B: Ψωμάκι | P: Φαρμακόραμα | S: Παπουτσάκι Μπλε | G: Το Καλάθι | C: Καφεδάκι Κο",
    ),
    language(
        "tr",
        "Fırın/Unlu Mamuller | Eczanesi | Kasap/Et Market | Kitabevi/Kırtasiye | Kuaför/Berber"
        " | Lokantası/Ocakbaşı | Kahvesi/Pastanesi | Çiçekçilik | Oteli/Pansiyon | Market/Bakkal"
        " | Ayakkabı/Kundura | Giyim/Terzi | Hırdavat/Nalbur | Optik | Oto Tamir/Lastik | Döner/Pide Salonu",
        "Yıldız | Kaya | Demir | Şahin | Çelik | Aydın | Öztürk | Arslan | Doğan | Kılıç | Koç | Kurt"
        " | Özdemir | Polat | Güneş | Bulut",
        "Çınar | Gül | Lale | Hisar | Anadolu | Marmara | Ihlamur | Karanfil | Zeytin | Kardeşler"
        " | Bizim Köşe | Yeşilyurt | Pınar | Kervan | Saray | Menekşe",
        "Merkez | Çarşı | Meydan",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {person} Kardeşler {trade}"
        " | {house} {second_house} {trade}",
        street_forms="{} Caddesi | {} Sokak",
        street_stems="Gazi | Fatih | Barbaros | Yunus Emre | Okul | Çiçek | Lale | Çeşme | Zafer | Kurtuluş"
        " | Hürriyet | Bağlar | Pazar | Karanfil | Mimar Sinan",
        streets="Cumhuriyet Meydanı | Atatürk Bulvarı | İstiklal Caddesi | İnönü Caddesi | Belediye Caddesi"
        " | İstasyon Caddesi",
        chains="B: Ekmekçim | S: Pabuçland | G: Köşem Market | C: Kahve Durağı Lila | O: Gözde Optik Zinciri"
        " | W: Vidacı",
    ),
    language(
        "hu",
        "Pékség/Kenyérbolt | Gyógyszertár/Patika | Húsbolt/Hentesáru | Könyvesbolt/Papírbolt"
        " | Fodrászat/Borbély | Étterem/Vendéglő/Csárda | Kávézó/Cukrászda | Virágbolt | Panzió/Szálloda"
        " | Élelmiszer/Vegyesbolt | Cipőbolt | Ruhabolt/Szabóság | Vasbolt/Barkácsbolt | Optika"
        " | Autószerviz/Gumiszerviz | Lángos/Büfé",
        "Balogh | Csonka | Fekete | Gulyás | Halász | Juhász | Kertész | Lakatos | Mészáros | Orosz | Pintér"
        " | Rózsa | Szűcs | Takács | Vörös | Bognár",
        "Arany Kakas | Két Gólya | Fehér Liliom | Öreg Malom | Napsugár | Kék Duna | Szarvas | Gesztenye"
        " | Régi Posta | Hársfa | Pipacs | Kék Ló | Vadrózsa | Kisharang",
        "Központi | Piac | Állomás",
        common_form="{house} {trade}", town_form="{town}i {trade}",
        forms="{person} {trade} | {house} {trade} | {person} és {second} {trade} | {person} és Fia {trade}",
        street_forms="{} utca | {} út",
        street_stems="Arany János | Dózsa György | Jókai | Deák Ferenc | Iskola | Malom | Kert | Virág"
        " | Béke | Ady Endre | Bartók Béla | Szabadság | Vörösmarty | Mátyás király | Hunyadi",
        streets="Fő utca | Fő tér | Kossuth Lajos utca | Templom tér | Vasút utca | Széchenyi út",
        chains="B: Kiflike | S: Cipellő | G: Kosárka Bolt | C: Kávépont | W: Csavarház",
    ),
    language(
        "fi",
        "Leipomo/Leipäpuoti | Apteekki | Lihakauppa/Lihatori | Kirjakauppa/Antikvariaatti | Parturi/Kampaamo"
        " | Ravintola/Kievari | Kahvila/Konditoria | Kukkakauppa | Majatalo/Hotelli | Ruokakauppa/Kyläkauppa"
        " | Kenkäkauppa | Vaatturi/Muotitalo | Rautakauppa | Optikko | Autokorjaamo/Rengasliike"
        " | Grilli/Nakkikioski",
        "Lahtela | Mäkinen | Heikkilä | Koskela | Niemi | Rantala | Salmela | Kivistö | Hakala | Lehtonen"
        " | Ojala | Peltonen | Saarinen | Toivola",
        "Kultainen Omena | Vanha Mylly | Sinivuokko | Joutsen | Tähkä | Metsätähti | Revontuli"
        " | Kolme Koivua | Pihlaja | Majakka | Ruusu | Satama",
        "Keskusta | Tori | Asema",
        common_form="{trade} {house}", town_form="{town} {trade}",
        forms="{trade} {person} | {trade} {house} | {trade} {person} & {second} | {trade} {person} ja Pojat",
        street_forms="{}katu | {}tie",
        street_stems="Koulu | Koivu | Mylly | Ranta | Puisto | Satama | Kirkko | Pelto | Mänty | Tehtaan"
        " | Sepän | Linnan",
        streets="Kauppakatu | Asemakatu | Keskuskatu | Torikatu | Hallituskatu | Rautatienkatu",
        chains="B: Pullapoju | S: Kenkälä | G: Naapurikauppa Oiva | C: Kahvihetki | W: Mutteri & Ruuvi",
    ),
    language(
        "et",
        "Pagariäri | Apteek | Lihapood | Raamatupood | Juuksur/Ilusalong | Restoran/Kõrts | Kohvik"
        " | Lillepood | Külalistemaja/Hotell | Toidupood/Kauplus | Jalatsid | Rõivad/Rätsep"
        " | Ehituspood/Rauakauplus | Prillipood | Autoremont/Rehvitöökoda | Grill/Pirukapood",
        "Tamm | Saar | Mägi | Kask | Kukk | Rebane | Ilves | Pärn | Koppel | Luik | Oja | Raudsepp | Sepp"
        " | Vaher",
        "Kuldne Päts | Vana Veski | Rukkilill | Kajakas | Sinilill | Kolm Mändi | Nurgake | Päikesekiir"
        " | Suitsupääsuke | Merevaik",
        "Kesklinn | Turu | Jaama",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {person} ja {second} {trade} | Vennad {person} {trade}",
        street_forms="{} tänav | {} tee",
        street_stems="Kooli | Aia | Pargi | Lossi | Kase | Metsa | Veski | Jõe | Kalda | Vabaduse | Sadama"
        " | Lille",
        streets="Raekoja plats | Pikk tänav | Turu tänav | Jaama tänav | Keskväljak",
        chains="B: Saiake | S: Kingakarp | G: Külapood Rõõm | O: Prilliäri Silm",
    ),
    language(
        "lv",
        "Maiznīca/Beķereja | Aptieka | Gaļas veikals | Grāmatnīca | Frizētava/Salons | Restorāns/Krogs"
        " | Kafejnīca | Ziedu salons | Viesu nams/Viesnīca | Pārtika/Veikals | Apavi"
        " | Apģērbi/Šūšanas darbnīca | Saimniecības preces | Optika | Autoserviss/Riepu serviss"
        " | Ēstuve/Pelmeņi",
        "Bērziņš | Kalniņš | Ozols | Liepa | Zariņš | Krūmiņš | Vītols | Eglītis | Balodis | Lācis | Priede"
        " | Vanags",
        "Zelta Vārpa | Vecās Dzirnavas | Saulespuķe | Baltais Gulbis | Rudzupuķe | Dzintars | Trīs Egles"
        " | Pie Torņa | Stārķis | Madara",
        "Centrs | Tirgus | Stacija",
        forms="{trade} {person} | {trade} {house} | {trade} {person} un {second} | {trade} {person} un dēls",
        street_forms="{} iela",
        street_stems="Skolas | Dārza | Parka | Liepu | Raiņa | Upes | Pils | Ozolu | Blaumaņa | Jūras"
        " | Kalna | Saules | Meža",
        streets="Rīgas iela | Tirgus laukums | Baznīcas iela | Stacijas iela | Brīvības iela",
        chains="B: Kliņģeris Rīts | S: Kurpīte | G: Kaimiņu Bode | O: Acis Optika",
    ),
    language(
        "lt",
        "Kepykla/Duonos krautuvė | Vaistinė | Mėsos krautuvė/Mėsinė | Knygynas | Kirpykla/Grožio salonas"
        " | Restoranas/Smuklė | Kavinė/Konditerija | Gėlių salonas | Svečių namai/Viešbutis"
        " | Maisto prekės/Parduotuvė | Avalynė | Drabužiai/Siuvykla | Ūkinės prekės | Optika"
        " | Autoservisas/Padangos | Kebabinė/Užkandinė",
        "Kazlauskas | Jankauskas | Stankevičius | Žukauskas | Butkus | Rimkus | Petraitis | Navickas"
        " | Gudaitis | Urbonas | Šimkus | Bagdonas",
        "Auksinė Varpa | Senas Malūnas | Rasa | Ąžuolas | Gintarėlis | Trys Liepos | Saulėgrąža | Gandras"
        " | Ramunė | Prie Bokšto",
        "Centras | Turgus | Stotis",
        forms="{trade} {person} | {trade} {house} | {trade} {person} ir {second} | {trade} {person} ir sūnus",
        street_forms="{} gatvė | {} alėja",
        street_stems="Mokyklos | Sodų | Parko | Liepų | Maironio | Basanavičiaus | Pilies | Žalioji | Upės"
        " | Vytauto | Gedimino | Daukanto",
        streets="Vilniaus gatvė | Rotušės aikštė | Bažnyčios gatvė | Stoties gatvė | Laisvės alėja",
        chains="B: Bandelė | S: Batukas | G: Kaimynų Krautuvėlė | O: Regėk Optika",
    ),
)  # fmt: skip


ROMANCE = (
    language(
        "fr",
        "Boulangerie/Fournil | Pharmacie | Boucherie/Charcuterie | Librairie/Maison de la Presse"
        " | Coiffure/Salon | Restaurant/Brasserie/Auberge | Café/Salon de Thé | Fleuriste/Fleurs"
        " | Hôtel/Chambres d'Hôtes | Épicerie/Alimentation | Chaussures/Cordonnerie | Prêt-à-Porter/Lingerie"
        " | Quincaillerie/Droguerie | Optique/Lunettes | Garage/Carrosserie | Sandwicherie/Friterie",
        "Lemoine | Chauvet | Delacourt | Roussel | Marchand | Fabre | Guérin | Perrot | Boisseau | Tessier"
        " | Vasseur | Mercier | Rivière | Lacombe | Barbier | Dufresne | Pélissier | Aubert | Jourdan"
        " | Morvan | Le Gall | Castaing | Humbert | Bonnefoy",
        "du Vieux Moulin | de la Fontaine | des Remparts | du Beffroi | aux Trois Épis | du Lavoir"
        " | de la Tour | des Halles | du Pont Neuf | L'Hirondelle | La Mésange | Au Bon Coin | Les Tilleuls"
        " | Le Cheval Blanc | de la Poste | des Arcades | Les Glycines | du Marché Couvert",
        "du Centre | de la Gare | de la Place",
        forms="{trade} {person} | {trade} {house} | {trade} {person} & {second}"
        " | {trade} {person} Père et Fils",
        street_forms="Rue {} | Avenue {} | Place {}",
        street_stems="des Tilleuls | du Moulin | de la Fontaine | Victor Hugo | Pasteur | Jean Jaurès"
        " | des Écoles | du Château | des Lilas | Voltaire | du Stade | de Verdun | des Carmes | du Lavoir"
        " | Émile Zola | du 8 Mai 1945 | des Acacias | Saint-Martin",
        streets="Grande Rue | Rue de la République | Rue de l'Église | Avenue de la Gare | Boulevard Gambetta"
        " | Place du Marché | Rue Nationale | Quai des Bateliers",
        chains="B: Pain Doré | O: Lunettes Clairbois | S: La Belle Semelle | G: Proxivert | C: Café Rivoire"
        " | W: Brico Fûté | F: Fleurs de Saison | K: Maison Lutine",
    ),
    language(
        "it",
        "Panificio/Forno | Farmacia | Macelleria/Salumeria | Libreria/Cartolibreria | Parrucchiere/Barbiere"
        " | Trattoria/Osteria/Ristorante | Caffè/Pasticceria | Fiori/Fioraio | Albergo/Locanda"
        " | Alimentari/Drogheria | Calzature/Calzolaio | Abbigliamento/Sartoria | Ferramenta | Ottica"
        " | Autofficina/Carrozzeria | Pizza al Taglio/Rosticceria",
        "Bertolini | Caruso | De Santis | Esposito | Fontana | Galimberti | Lombardi | Marchetti | Neri"
        " | Orlandi | Pellegrini | Quaglia | Rinaldi | Sartori | Tedeschi | Valentini | Zanetti | Battaglia"
        " | Ceccarelli | Donati | Ferrante | Grimaldi | Monti | Sanna",
        "La Pergola | Il Mulino | Tre Colombe | La Fontana Vecchia | San Rocco | Santa Lucia | Il Girasole"
        " | La Torre | Al Ponte | Il Glicine | La Rondine | Due Leoni | Stella Alpina | Il Melograno"
        " | San Biagio | Le Terrazze | La Quercia | L'Ancora",
        "Centrale | della Stazione | San Marco",
        forms="{trade} {person} | {trade} {house} | {trade} {person} & {second} | {trade} Fratelli {person}",
        street_forms="Via {} | Viale {} | Piazza {}",
        street_stems="Dante Alighieri | Giuseppe Verdi | dei Mille | Cavour | Guglielmo Marconi | Matteotti"
        " | San Rocco | della Vittoria | Leopardi | dei Tigli | XXV Aprile | Carducci | del Mulino"
        " | IV Novembre | Manzoni | Santa Lucia | della Libertà | Petrarca",
        streets="Via Roma | Corso Italia | Via Garibaldi | Piazza del Duomo | Via Mazzini | Corso Umberto I"
        " | Vicolo Stretto | Via della Stazione",
        chains="B: Pane & Via | O: Otticasole | S: Scarpamondo Blu | G: Il Risparmino | C: Caffè Bellatrix"
        " | W: Ferrobello | F: Fiorpiù",
    ),
    language(
        "es",
        "Panadería/Horno | Farmacia | Carnicería/Charcutería | Librería/Papelería | Peluquería/Barbería"
        " | Restaurante/Mesón/Taberna | Cafetería/Bar | Floristería | Hostal/Hotel"
        " | Ultramarinos/Alimentación | Zapatería/Calzados | Confecciones/Moda | Ferretería | Óptica"
        " | Talleres/Neumáticos | Churrería/Bocatería",
        "Arrieta | Benavides | Cifuentes | Domínguez | Escudero | Ferrándiz | Garrido | Herranz | Izquierdo"
        " | Lozano | Montoya | Navarrete | Ordóñez | Peñalver | Quesada | Rebollo | Sepúlveda | Tejedor"
        " | Urrutia | Villalobos | Zamorano | Bermejo",
        "La Encina | El Molino | San Roque | Las Palomas | El Olivar | La Giralda Chica | Tres Cantos"
        " | El Pilar Viejo | La Parra | Los Arcos | El Faro | Santa Águeda | La Cigüeña | El Alcázar"
        " | La Noria | Casa Pepa",
        "Central | La Plaza | San José",
        forms="{trade} {person} | {trade} {house} | {trade} {person} y {second} | {trade} Hermanos {person}",
        street_forms="Calle {} | Avenida {} | Plaza {}",
        street_stems="de Cervantes | del Molino | de la Libertad | San Juan | del Carmen | de Goya"
        " | de los Olivos | de la Fuente | Santa Ana | del Pilar | de Velázquez | del Sol | de las Flores"
        " | Real | de la Paz | Nueva",
        streets="Calle Mayor | Plaza Mayor | Calle Real | Gran Vía | Avenida de la Constitución"
        " | Paseo del Parque | Calle de la Iglesia | Ronda del Norte",
        chains="B: Panaluz | O: Ópticas Mirador | S: Pisaflor | G: SuperVecino | C: Cafés Alcor"
        " | W: Ferrohogar | K: Modalia",
    ),
    language(
        "es-am",
        "Panadería/Panificadora | Farmacia/Botica | Carnicería | Librería/Papelería | Peluquería/Estética"
        " | Comedor/Parrilla/Fonda | Cafetería/Heladería | Florería | Hostería/Posada/Hotel"
        " | Abarrotes/Almacén/Minimarket | Calzado/Zapatería | Boutique/Modas | Ferretería/Materiales"
        " | Óptica | Taller Mecánico/Llantería | Pollería/Comida Rápida",
        "Acevedo | Barrientos | Cárdenas | Echeverría | Figueroa | Gallardo | Henríquez | Ibáñez | Jaramillo"
        " | Leiva | Maldonado | Noriega | Oyarzún | Paredes | Quiñones | Restrepo | Saavedra | Tapia | Uribe"
        " | Valdivia | Yáñez | Zambrano | Bustamante | Cevallos | Duarte | Espinoza | Godoy | Miranda"
        " | Palacios | Rosales",
        "El Cóndor | La Esperanza | San Martín de Porres | El Porvenir | Los Andes | La Colmena"
        " | Virgen del Valle | El Ceibo | La Fortuna | Las Delicias | El Quetzal | Doña Rosa | Don Julio"
        " | La Abundancia | El Triunfo | Santa Fe | El Trébol | Las Américas | La Milagrosa | El Jardín"
        " | Los Pinos | La Favorita",
        "Central | San José | La Económica | El Sol",
        forms="{trade} {person} | {trade} {house} | {trade} {person} e Hijos | {trade} Hermanos {person}"
        " | {trade} {person} y {second}",
        street_forms="Calle {} | Avenida {}",
        street_stems="Bolívar | San Martín | Independencia | 25 de Mayo | Libertad | Sucre | Las Flores"
        " | Los Pinos | Belgrano | Juárez | Morelos | Santa Rosa | 9 de Julio | Colón | Hidalgo | Las Palmas"
        " | Rivadavia | del Sol | San Francisco | Grau | Los Álamos",
        streets="Avenida Central | Plaza de Armas | Calle Real | Avenida Libertador | Calle Comercio"
        " | Avenida Circunvalación | Paseo del Lago | Calle 10 | Calle 7 Norte",
        chains="B: Panamiel | P: Farmaluz | S: Calzatodo Andino | G: SuperAhorrín | C: Café Tumaco"
        " | W: Ferremás Sur | O: Ópticas Lúmina | X: Pollo Volado | K: Modas Génesis",
    ),
    language(
        "pt",
        "Padaria/Panificadora | Farmácia | Talho/Charcutaria | Livraria/Papelaria | Cabeleireiro/Barbearia"
        " | Restaurante/Tasca/Marisqueira | Pastelaria/Café | Florista | Pensão/Hospedaria/Hotel"
        " | Mercearia/Minimercado | Sapataria/Calçados | Pronto-a-Vestir/Retrosaria | Drogaria/Ferragens"
        " | Oculista/Óptica | Oficina/Pneus | Churrasqueira/Snack-Bar",
        "Albuquerque | Baptista | Carvalhal | Domingues | Esteves | Figueiredo | Gouveia | Lourenço"
        " | Mascarenhas | Nóbrega | Pacheco | Quintela | Rebelo | Serrano | Teixeira | Vasconcelos | Brandão"
        " | Moutinho",
        "A Nau | O Moinho | Flor do Tejo | São Brás | A Cegonha | Os Três Irmãos | O Farol | Boa Esperança"
        " | A Ginjinha | O Pelourinho | Nova Aurora | A Rolha | Casa do Largo | Santa Luzia",
        "Central | da Praça | São João",
        forms="{trade} {person} | {trade} {house} | {trade} {person} & {second} | {trade} Irmãos {person}",
        street_forms="Rua {} | Avenida {} | Travessa {}",
        street_stems="do Comércio | 5 de Outubro | 25 de Abril | da Igreja | Luís de Camões | do Moinho"
        " | das Flores | São Sebastião | da Fonte | Alexandre Herculano | do Castelo | da Escola"
        " | dos Pescadores",
        streets="Rua Direita | Largo da Sé | Avenida da República | Praça do Município | Rua Nova"
        " | Avenida da Liberdade",
        chains="B: Pãozinho Bom | O: Vistalegre Óptica | S: Passo Certo | G: Minicesta | C: Cafés Guadi"
        " | W: Ferraço",
    ),
    language(
        "pt-br",
        "Padaria/Confeitaria | Drogaria/Farmácia | Açougue/Casa de Carnes | Livraria/Papelaria"
        " | Salão/Barbearia | Restaurante/Churrascaria | Lanchonete/Cafeteria | Floricultura | Pousada/Hotel"
        " | Mercadinho/Mercearia | Calçados/Sapataria | Modas/Confecções | Ferragens/Material de Construção"
        " | Ótica | Auto Mecânica/Borracharia | Pastelaria/Pizzaria",
        "Siqueira | Bittencourt | Cavalcanti | Drummond | Evangelista | Fagundes | Gusmão | Holanda"
        " | Junqueira | Lacerda | Magalhães | Nascimento | Peixoto | Queiroz | Ramalho | Sampaio | Tavares"
        " | Vilela | Zanini | Bragança | Coutinho | Meireles",
        "Bom Jesus | Estrela do Sul | Ipê Amarelo | Beira-Rio | Nossa Senhora Aparecida | Sabiá | Boa Sorte"
        " | Pé de Serra | Vitória Régia | Dois Irmãos | Sol Nascente | Jacarandá | Recanto Verde | Santa Rita"
        " | Tropical | Cruzeiro | Canarinho | Vale Verde",
        "Central | São José | Avenida",
        forms="{trade} {person} | {trade} {house} | {trade} {person} e {second} | {trade} do {person}",
        street_forms="Rua {} | Avenida {}",
        street_stems="Sete de Setembro | Tiradentes | Dom Pedro II | Marechal Deodoro | das Palmeiras"
        " | São Pedro | Getúlio Vargas | Santos Dumont | Rui Barbosa | Duque de Caxias | das Acácias"
        " | Santa Catarina | Benjamin Constant | Barão do Rio Branco | Castro Alves | Floriano Peixoto",
        streets="Rua Quinze de Novembro | Avenida Brasil | Praça da Matriz | Rua da Estação | Avenida Central"
        " | Rua Direita | Travessa do Mercado",
        chains="B: Pão da Vila Real | P: Drogamais Vida | S: Pisante Bom | G: Mercadim Econômico"
        " | C: Café Uirapuru | W: Ferrageiro | O: Óticas Visolar",
    ),
    language(
        "ro",
        "Brutărie/Patiserie | Farmacia | Măcelărie/Carmangerie | Librărie/Papetărie | Frizerie/Coafor"
        " | Restaurant/Han | Cofetărie/Cafenea | Florărie | Pensiune/Hotel | Alimentara/Băcănie"
        " | Încălțăminte/Cizmărie | Croitorie/Confecții | Fierărie/Bricolaj | Optică"
        " | Vulcanizare/Service Auto | Covrigărie/Șaormerie",
        "Munteanu | Ciobanu | Dobrescu | Lungu | Moldovan | Petrescu | Rusu | Stoica | Tudor | Ungureanu"
        " | Vlădescu | Zamfir | Bălan | Cristea | Enache | Ghiță | Nistor | Olaru",
        "La Teiul Alb | Ana | Doi Cocoși | Trandafirul | Casa Veche | La Fântână | Carpați | Mierla"
        " | Trei Brazi | Hanul Mic | Crinul | Moara | Dacia Veche | La Cetate",
        "Central | Unirea | La Colț",
        forms="{trade} {person} | {trade} {house} | {trade} {person} & {second} | {trade} Frații {person}",
        street_forms="Strada {} | Bulevardul {} | Aleea {}",
        street_stems="Florilor | Mihai Viteazul | Teilor | Eroilor | Morii | Nicolae Bălcescu | Libertății"
        " | Castanilor | Avram Iancu | George Coșbuc | Primăverii | Ștefan cel Mare | Gării | Școlii",
        streets="Strada Mihai Eminescu | Piața Unirii | Bulevardul Independenței | Calea Victoriei"
        " | Strada Principală | Piața Mare",
        chains="B: Pâinea Bună | O: Ochi Clari | S: Pas cu Pas Shoes | G: Băcănia Lina | C: Cafeneaua Rubin"
        " | W: Scule & Cuie",
    ),
)  # fmt: skip


SLAVIC = (
    language(
        "pl",
        "Piekarnia | Apteka | Rzeźnik/Wędliny | Księgarnia/Antykwariat | Fryzjer/Salon Fryzjerski"
        " | Restauracja/Karczma | Kawiarnia/Cukiernia | Kwiaciarnia | Hotel/Zajazd"
        " | Delikatesy/Sklep Spożywczy | Obuwie/Szewc | Odzież/Krawiec | Narzędzia/Artykuły Metalowe"
        " | Optyk/Okulary | Auto Serwis/Wulkanizacja | Pierogarnia/Bar Mleczny",
        "Wasilewski | Zieliński | Jaworski | Malinowski | Górecki | Piątek | Sikora | Baran | Czarnecki"
        " | Duda | Gajda | Kołodziej | Makowski | Nowicki | Olszewski | Rutkowski | Sobczak | Tomczyk"
        " | Urbaniak | Wróbel",
        "Pod Lipą | Złoty Kłos | Stary Młyn | Pod Aniołem | Biały Łabędź | Pod Zegarem | Jarzębina"
        " | Pod Kasztanem | Bursztyn | Trzy Korony | Stokrotka | Pod Orłem | Zielona Brama | Pod Wieżą"
        " | Konwalia | Słonecznik",
        "Rynek | Centrum | Pod Ratuszem",
        forms="{trade} {person} | {trade} {house} | {trade} {person} i {second} | {trade} Bracia {person}",
        street_forms="ul. {} | al. {}",
        street_stems="Lipowa | Ogrodowa | Szkolna | Polna | Słoneczna | Mickiewicza | Sienkiewicza"
        " | Kolejowa | Młyńska | Zamkowa | Piłsudskiego | Kopernika | Reymonta | Wiśniowa | Parkowa"
        " | Brzozowa | Konopnickiej",
        streets="Rynek Główny | ul. 3 Maja | ul. Kościelna | ul. Główna | plac Wolności | ul. Warszawska"
        " | al. Niepodległości",
        chains="B: Chlebuś | P: Aptekarz Plus | S: Bucik Polski | G: Koszyczek | C: Kawa i Spółka"
        " | W: Śrubka i Młotek | O: Okularnik",
    ),
    language(
        "cs",
        "Pekařství/Pekárna | Lékárna | Řeznictví/Uzenářství | Knihkupectví/Papírnictví"
        " | Kadeřnictví/Holičství | Restaurace/Hostinec | Kavárna/Cukrárna | Květinářství | Penzion/Hotel"
        " | Potraviny/Smíšené zboží | Obuv | Oděvy/Galanterie | Železářství | Oční optika"
        " | Autoservis/Pneuservis | Bistro/Rychlé občerstvení",
        "Dvořáček | Horák | Jelínek | Kovařík | Malý | Navrátil | Pospíšil | Růžička | Sedláček | Tichý"
        " | Urbánek | Vaněk | Zelenka | Beran | Doležal | Fiala",
        "U Zlatého lva | U Tří lip | Na Růžku | U Kašny | Stará pošta | U Černého orla | Sluneční | Pod Věží"
        " | Modrá hvězda | U Mlýna | Na Hradbách | Pampeliška",
        "Centrum | Na Náměstí | U Nádraží",
        forms="{trade} {person} | {trade} {house} | {trade} {person} a syn | {trade} {person} & {second}",
        street_forms="{}",
        street_stems="Školní | Zahradní | Nádražní | Polní | Lipová | Komenského | Jiráskova | Smetanova"
        " | Dvořákova | Nerudova | Mlýnská | Zámecká | Havlíčkova | Krátká | Tyršova | Žižkova",
        streets="Hlavní třída | Náměstí Míru | Masarykovo náměstí | Palackého třída | Kostelní | Dlouhá",
        chains="B: Pečivárek | S: Botička | L: Knihomol | G: Náš Krámek | C: Kávička | W: Hřebíček",
    ),
    language(
        "sk",
        "Pekáreň/Pekárstvo | Lekáreň | Mäsiarstvo/Údeniny | Kníhkupectvo | Kaderníctvo/Holičstvo"
        " | Reštaurácia/Hostinec | Kaviareň/Cukráreň | Kvety/Kvetinárstvo | Penzión/Hotel"
        " | Potraviny/Zmiešaný tovar | Obuv/Obuvníctvo | Odevy/Krajčírstvo | Železiarstvo | Očná optika"
        " | Autoservis/Pneuservis | Bufet/Bryndzové halušky",
        "Kováčik | Hudák | Mihálik | Ondrejka | Šimko | Baláž | Gregor | Krajčí | Lacko | Molnár | Polák"
        " | Rusnák | Tkáč | Uhrin",
        "Pod Lipou | Zlatý jeleň | U Kohúta | Pri Fontáne | Tatranka | Biela ruža | Starý mlyn | Pod Hradom"
        " | Slnečnica | Tri duby | Na Rohu | Čučoriedka",
        "Centrum | Na Námestí | Pri Stanici",
        forms="{trade} {person} | {trade} {house} | {trade} {person} a {second}",
        street_forms="{}",
        street_stems="Školská | Záhradná | Železničná | Poľná | Lipová | Hviezdoslavova | Kollárova"
        " | Mlynská | Zámocká | Krátka | Kuzmányho | Sládkovičova | Bernolákova | Jesenského",
        streets="Hlavná ulica | Námestie SNP | Štúrova | Dlhá | Kostolná | Mierové námestie",
        chains="B: Chlebíček | S: Topánočka | G: Náš Obchodík | C: Kávomilka | W: Klinček",
    ),
    language(
        "hr",
        "Pekarnica/Pekara | Ljekarna | Mesnica | Knjižara/Papirnica | Frizerski salon/Brijačnica"
        " | Konoba/Restoran | Kavana/Slastičarnica | Cvjećarnica | Pansion/Hotel | Trgovina/Market"
        " | Obuća/Postolar | Odjeća/Krojač | Željezarija | Optika | Autoservis/Vulkanizer"
        " | Ćevabdžinica/Roštilj",
        "Babić | Dragičević | Grgić | Jurišić | Knežević | Lovrić | Matković | Novosel | Perković | Radić"
        " | Šarić | Tomašić | Vuković | Zorić | Barišić | Cvitan",
        "Stari Mlin | Kod Lipe | Galeb | Tri Palme | Lavanda | Kod Zvonika | Bijeli Jelen | Maslina | Luna"
        " | Zlatna Ribica | Pod Smokvom | Vidikovac",
        "Centar | Trg | Riva",
        forms="{trade} {person} | {trade} {house} | {trade} {person} i {second}",
        street_forms="Ulica {} | {} ulica",
        street_stems="Vinogradska | Školska | Zagrebačka | Splitska | Mlinska | Cvjetna | Kolodvorska"
        " | Primorska | Jadranska | Gajeva | Sunčana | Crkvena",
        streets="Trg bana Jelačića | Ilica | Obala hrvatske mornarice | Ulica kralja Tomislava"
        " | Glavna ulica | Trg slobode",
        chains="B: Kruščić | S: Obućko | O: Vidolux | G: Marketić | C: Kavica Bar",
    ),
    language(
        "sl",
        "Pekarna | Lekarna | Mesnica | Knjigarna/Papirnica | Frizerstvo/Brivnica | Gostilna/Restavracija"
        " | Kavarna/Slaščičarna | Cvetličarna | Penzion/Hotel | Trgovina/Špecerija | Obutev/Čevljarstvo"
        " | Oblačila/Šiviljstvo | Železnina | Očesna optika | Avtoservis/Vulkanizerstvo"
        " | Okrepčevalnica/Burekdžinica",
        "Novinšek | Krajnc | Zupan | Kotnik | Vidmar | Golob | Hribar | Kastelic | Oblak | Rozman | Turk"
        " | Žagar | Bizjak",
        "Pri Lipi | Zlata Kapljica | Pri Zmaju | Triglavska Roža | Stari Mlin | Pri Vodnjaku | Murka"
        " | Pod Gradom | Sončnica | Lastovka",
        "Center | Na Trgu | Pri Postaji",
        forms="{trade} {person} | {trade} {house} | {trade} {person} in {second}",
        street_forms="{} ulica | {} cesta",
        street_stems="Cankarjeva | Šolska | Ljubljanska | Celovška | Mlinska | Gregorčičeva | Vrtna"
        " | Kolodvorska | Trubarjeva | Partizanska",
        streets="Glavni trg | Slovenska cesta | Mestni trg | Prešernova cesta | Stari trg",
        chains="B: Kruhek | S: Čeveljček | O: Očka Optika | G: Sosedov Market",
    ),
    language(
        "ru",
        "Пекарня/Булочная | Аптека | Мясная лавка/Мясо | Книжный магазин/Книги"
        " | Парикмахерская/Салон красоты | Ресторан/Столовая | Кафе/Кондитерская | Цветы | Гостиница/Хостел"
        " | Продукты/Гастроном | Обувь | Одежда/Ателье | Хозтовары/Стройматериалы | Оптика"
        " | Автосервис/Шиномонтаж | Шаурма/Чебуречная",
        "Морозова | Соколова | Воронин | Голубев | Ефимов | Зайцева | Калинин | Лебедев | Макаров | Орлов"
        " | Рябинин | Савельев | Тихонов | Фролов | Шубин | Ярцев",
        "Берёзка | Ромашка | Золотой колос | У фонтана | Рябинушка | Старый город | Василёк | Три богатыря"
        " | Жар-птица | Каравай | Северное сияние | Огонёк | Самовар | Теремок | Уральская | Лукоморье"
        " | Снегирь | Малахит",
        "Центральная | Надежда | Вокзальная",
        common_form="{trade} «{house}»", town_form="{trade} «{town}»",
        forms="{trade} «{house}» | {trade} «У {person}» | {trade} «{house} плюс»"
        " | {trade} «{house} на {second_house}»",
        street_forms="улица {} | переулок {}",
        street_stems="Пушкина | Гагарина | Мира | Чехова | Лермонтова | Гоголя | Некрасова | Кирова"
        " | Толстого | Горького | Суворова | Кутузова | Чайковского | Тургенева | Маяковского | Победы",
        streets="улица Ленина | Советская улица | Центральная площадь | Садовая улица | проспект Победы"
        " | Вокзальная улица | Набережная улица",
        chains="B: Хлебница | G: ДаЕда | S: Обувь-Сити | P: Аптечный рядок | C: Зёрнышко кофе | W: Гвоздик",
    ),
    language(
        "uk",
        "Пекарня/Хлібниця | Аптека | М'ясна крамниця/Ковбаси | Книгарня | Перукарня/Салон краси"
        " | Ресторан/Їдальня | Кав'ярня/Кондитерська | Квіти | Готель/Садиба | Продукти/Гастроном | Взуття"
        " | Одяг/Ательє | Госптовари/Будматеріали | Оптика | Автосервіс/Шиномонтаж | Вареничня/Піцерія",
        "Шевчук | Бондар | Коваль | Мельник | Гончар | Кравець | Ткач | Лисенко | Мороз | Савчук | Гриценко"
        " | Панченко",
        "Калина | Барвінок | Соняшник | Старе місто | У Марічки | Золоте зерно | Мальва | Під липою"
        " | Криниця | Смерека | Лелека | Світанок | Вишиванка | Козацька",
        "Центральна | Надія | Вокзальна",
        common_form="{trade} «{house}»", town_form="{trade} «{town}»",
        forms="{trade} «{house}» | {trade} «{person}» | {trade} «{house} і {second_house}»"
        " | {trade} «{person} та сини»",
        street_forms="вулиця {} | провулок {}",
        street_stems="Франка | Лесі Українки | Садова | Миру | Грушевського | Сагайдачного | Зелена"
        " | Коцюбинського | Незалежності | Стефаника | Довженка | Героїв | Липова",
        streets="вулиця Шевченка | площа Ринок | вулиця Хмельницького | проспект Миру | вулиця Вокзальна"
        " | Центральна площа",
        chains="B: Хлібчик | G: Сусідський кошик | S: Черевичок | C: Кавуся | W: Цвяшок",
    ),
    language(
        "bg",
        "Хлебарница/Фурна | Аптека | Месарница/Колбаси | Книжарница | Фризьорски салон/Бръснарница"
        " | Механа/Ресторант | Кафене/Сладкарница | Цветя | Хотел/Къща за гости | Хранителни стоки/Бакалия"
        " | Обувки | Облекло/Шивашко ателие | Железария | Оптика | Автосервиз/Гуми | Скара/Дюнери",
        "Ангелов | Божков | Величков | Ганчев | Донев | Желязков | Златев | Калчев | Младенов | Пенев"
        " | Радев | Тодоров",
        "Здравец | Балкан | Старата къща | Роза | При Кмета | Бялата лястовица | Кокиче | Трите бора | Извор"
        " | Божур | Слънце | Чешмата",
        "Център | Гарата | Пазара",
        common_form="{trade} {house}", town_form="{trade} {town}",
        forms="{trade} {house} | {trade} {person} | {trade} {person} и {second} | {trade} {person} и син",
        street_forms="ул. {} | бул. {}",
        street_stems="Христо Ботев | Раковски | Опълченска | Македония | Шипка | Цар Симеон | Дунав | Роза"
        " | Стара планина | Марица | Граф Игнатиев | Пирин",
        streets="ул. Васил Левски | бул. България | ул. Цар Освободител | пл. Свобода | ул. Главна",
        chains="B: Хлебко | S: Обувчица | G: Магазинче Мира | C: Кафе Зрънце",
    ),
    language(
        "sr",
        "Пекара | Апотека | Месара | Књижара | Фризер/Берберница | Кафана/Ресторан | Посластичарница/Кафић"
        " | Цвећара | Преноћиште/Хотел | Самопослуга/Бакалница | Обућа | Бутик/Кројач | Гвожђара | Оптика"
        " | Ауто сервис/Вулканизер | Ћевабџиница/Роштиљ",
        "Јовић | Живковић | Илић | Крстић | Лазић | Митровић | Недељковић | Пантић | Ристић | Станковић"
        " | Тасић | Чолић",
        "Код Липе | Три шешира | Стара воденица | Бели бор | Славуј | Код Бошка | Шљива | Златни клас"
        " | Жубор | Опанак | Ласта | Маслачак",
        "Центар | Пијаца | Станица",
        forms="{trade} {person} | {trade} {house} | {trade} {person} и {second} | {trade} Браћа {person}",
        street_forms="{} улица | Улица {}",
        street_stems="Карађорђева | Његошева | Светосавска | Војводе Мишића | Немањина | Војводе Степе"
        " | Цара Лазара | Доситејева | Вука Караџића | Бранкова | Железничка",
        streets="Главна улица | Улица краља Александра | Трг слободе | Кнеза Милоша | Трг Републике",
        chains="B: Хлепчић | S: Ципелица | G: Дућанче | C: Кафица",
    ),
)  # fmt: skip
