"""How shops and streets are called in the Slavic languages."""

from .tongue import tongue

SLAVIC = (
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
