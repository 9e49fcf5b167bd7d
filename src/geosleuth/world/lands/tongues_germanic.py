"""How shops and streets are called in German, Dutch, English, Afrikaans and the languages of the North."""

from .tongue import tongue

GERMANIC = (
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
