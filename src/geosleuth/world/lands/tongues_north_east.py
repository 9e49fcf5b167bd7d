"""How shops and streets are called in Greek, Turkish, Hungarian and around the Baltic."""

from .tongue import tongue

NORTH_EAST = (
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
