"""How shops and streets are called in the Middle East, the Caucasus, Central Asia and Africa."""

from .tongue import tongue

SOUTH_WEST = (
    tongue(
        "ar",
        "مخبز/فرن | صيدلية | ملحمة/جزارة | مكتبة/قرطاسية | صالون/حلاق | مطعم | مقهى/كافيه | زهور | فندق/نزل"
        " | بقالة/سوبر ماركت | أحذية | ملابس/خياط | أدوات صحية/حدايد | نظارات/بصريات | ورشة/إطارات"
        " | مشويات/فلافل",
        "أبو خالد | أبو علي | الحاج محمود | أولاد حسن | أبو يوسف | الحاج سعيد | أولاد عمر | أبو طارق"
        " | الشيخ أحمد | أم كمال | أبناء سالم | أبو فارس | الحاج عبد الله | أولاد رشيد | أبو نبيل"
        " | الحاجة فاطمة | أبو زياد | أولاد البلد | الحاج إبراهيم",
        "النور | الأمل | السلام | الياسمين | الواحة | النخيل | الهدى | البركة | القدس | الفردوس | الزيتون"
        " | الأندلس | الشروق | اللؤلؤة | الريحان | الكوثر | الربيع | النجمة",
        "المركزية | السوق | المحطة",
        forms="{trade} {person} | {trade} {house} | {trade} {house} و{second_house}",
        street_forms="شارع {} | طريق {}",
        street_stems="السلام | الجامعة | الحرية | المسجد | الوحدة | الاستقلال | النخيل | المدرسة | القدس"
        " | الزهور | الميناء | صلاح الدين | ابن سينا | المتنبي | السوق | الحديقة",
        streets="الشارع الرئيسي | شارع المحطة | شارع الجمهورية | شارع البلدية | طريق المطار",
        chains="B: خبز الدار | P: صيدليات شفاكم | S: خطوة للأحذية | G: بقالة جارك | C: قهوة السطح",
    ),
    tongue(
        "fa",
        "نانوایی/شیرینی‌پزی | داروخانه | قصابی/سوپر گوشت | کتاب‌فروشی/لوازم‌التحریر | آرایشگاه"
        " | رستوران/چلوکبابی | کافه/قهوه‌خانه | گل‌فروشی | هتل/مسافرخانه | سوپرمارکت/خواربار | کفش"
        " | پوشاک/خیاطی | ابزار/یراق | عینک | تعمیرگاه/لاستیک | ساندویچی/کبابی",
        "احمدی | رضایی | کریمی | حسینی | محمدی | صادقی | مرادی | جعفری | نوری | اکبری | شریفی | کاظمی",
        "ستاره | بهار | پارسیان | گلستان | سپهر | یاس | آریا | نگین | مهتاب | شقایق | باران | البرز | سرو"
        " | آفتاب",
        "مرکزی | میدان | بازار",
        forms="{trade} {person} | {trade} {house} | {trade} {house} {second_house}",
        street_forms="خیابان {} | کوچه {}",
        street_stems="حافظ | سعدی | فردوسی | آزادی | بهار | مولوی | شریعتی | دانشگاه | گلستان | وحدت"
        " | طالقانی | معلم",
        streets="خیابان امام خمینی | بلوار چمران | خیابان انقلاب | میدان آزادی | خیابان بازار",
        chains="B: نان گرم | P: داروی تندرست | S: گام نو | G: همسایه مارکت",
    ),
    tongue(
        "he",
        "מאפיית/לחם | בית מרקחת | אטליז | ספרי/חנות ספרים | מספרת/סלון | מסעדת | קפה/בית קפה | פרחי"
        " | מלון/אכסניית | מכולת/מרכול | נעלי | אופנת/מתפרת | טמבור/חומרי בניין | אופטיקה | מוסך/צמיגי"
        " | פלאפל/שווארמה",
        "כהן | לוי | מזרחי | פרץ | ביטון | אברהם | פרידמן | דהן | אזולאי | שפירא | גולן | ברק",
        "הגליל | השרון | תמר | הזית | הרימון | ארז | כוכב הצפון | הדקל | שקד | הנביאים | הים | השחר",
        "המרכז | השוק | התחנה",
        forms="{trade} {person} | {trade} {house} | {trade} האחים {person} | {trade} {person} ו{second}",
        street_forms="רחוב {} | שדרות {}",
        street_stems="ביאליק | ז'בוטינסקי | בן גוריון | סוקולוב | הגפן | העצמאות | הנשיא | רמב\"ם | הזית"
        " | בגין | האלון | טרומפלדור",
        streets="רחוב הרצל | רחוב ויצמן | שדרות ירושלים | רחוב ראשי | רחוב התחנה",
        chains="B: לחמית | P: בריא לי פארם | S: צעד קל | G: שכן טוב מרקט",
    ),
    tongue(
        "ka",
        "საცხობი/თონე | აფთიაქი | ყასაბი | წიგნები | სალონი/პარიკმახერი | რესტორანი/დუქანი | კაფე"
        " | ყვავილები | სასტუმრო | მარკეტი/მაღაზია | ფეხსაცმელი | ტანსაცმელი/ატელიე | ხელსაწყოები | ოპტიკა"
        " | ავტოსერვისი | სახინკლე/საშაურმე",
        "გიორგი | ბერიძე | კაპანაძე | მაისურაძე | ნინო | ლომიძე | დოლიძე | ქეთო | ჯაფარიძე | გოგი | თამარი"
        " | კობახიძე",
        "ივერია | მზიური | ვარდი | კოლხეთი | მთა | ალაზანი | იმედი | მერცხალი | ნუში | რიონი | ვაზი | ლილე",
        "ცენტრი | სადგური | ბაზარი",
        common_form="{trade} „{house}“", town_form="{trade} „{town}“",
        forms="{trade} „{house}“ | {trade} „{person}“ | {trade} „{house} {second_house}“",
        street_forms="{} ქუჩა",
        street_stems="ჭავჭავაძის | თამარ მეფის | გამსახურდიას | ვაჟა-ფშაველას | წერეთლის | ბარათაშვილის"
        " | გორგასლის | მშვიდობის | ყაზბეგის | ფიროსმანის",
        streets="რუსთაველის ქუჩა | აღმაშენებლის ქუჩა | თავისუფლების მოედანი | სადგურის ქუჩა",
        chains="B: პურიკო | P: ჯანმრთელი აფთიაქი | S: ნაბიჯი | G: მეზობელი მარკეტი",
    ),
    tongue(
        "hy",
        "Հացատուն/Փուռ | Դեղատուն | Մսամթերք | Գրախանութ | Վարսավիրանոց/Սրահ | Ռեստորան/Պանդոկ | Սրճարան"
        " | Ծաղիկներ | Հյուրանոց | Մթերք/Խանութ | Կոշիկ | Հագուստ/Դերձակ | Շինանյութ | Օպտիկա | Ավտոսերվիս"
        " | Շաուրմա/Խորովածանոց",
        "Գրիգորյան | Հակոբյան | Սարգսյան | Պետրոսյան | Հովհաննիսյան | Վարդանյան | Կարապետյան | Մկրտչյան"
        " | Դավթյան | Ասլանյան",
        "Արարատ | Նաիրի | Սևան | Նուռ | Մասիս | Անի | Ծիրան | Գարուն | Արագած | Լույս | Վարդ | Շիրակ",
        "Կենտրոն | Կայարան | Շուկա",
        common_form="{trade} «{house}»", town_form="{trade} «{town}»",
        forms="{trade} «{house}» | {trade} «{person}» | {trade} «{house} և {second_house}»",
        street_forms="{} փողոց",
        street_stems="Թումանյան | Իսահակյան | Մաշտոցի | Չարենցի | Կոմիտասի | Շահումյան | Րաֆֆու | Նալբանդյան"
        " | Խորենացու | Գայի",
        streets="Աբովյան փողոց | Տիգրան Մեծի պողոտա | Հանրապետության փողոց | Կայարանի փողոց",
        chains="B: Հացիկ | P: Առողջ դեղ | S: Քայլ կոշիկ | G: Հարևան մարկետ",
    ),
    tongue(
        "am",
        "ዳቦ ቤት | መድኃኒት ቤት | ሥጋ ቤት/ልኳንዳ | መጻሕፍት መደብር | ፀጉር ቤት | ምግብ ቤት | ቡና ቤት/ካፌ | አበባ መሸጫ | ሆቴል/ፔንሲዮን"
        " | ሱቅ/ሱፐርማርኬት | ጫማ ቤት | ልብስ ቤት/ስፌት | የግንባታ ዕቃዎች | መነጽር ቤት | ጋራዥ | ቁርስ ቤት/ጁስ ቤት",
        "አበበ | ከበደ | አልማዝ | ተስፋዬ | ሙሉ | በቀለ | ገብሬ | ሰላማዊት | ታደሰ | ወርቅነሽ",
        "አዲስ | አባይ | ሰላም | ጣና | ፀሐይ | ላሊበላ | ዋልያ | ማር | ብርሃን | ሽመላ | ሸገር | ንጋት",
        "መሃል | አደባባይ | ገበያ",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} መንገድ | {} ጎዳና",
        street_stems="ቤተክርስቲያን | ሆስፒታል | ፒያሳ | አፄ ቴዎድሮስ | ሐይቅ | ትምህርት ቤት | ምኒልክ | ሰላም | ስታዲየም | አየር ማረፊያ",
        streets="ዋና መንገድ | ገበያ መንገድ | የድል ጎዳና | አደባባይ መንገድ",
        chains="B: ትኩስ ዳቦ | P: ጤናዎ መድኃኒት | S: እርምጃ ጫማ | G: ጎረቤት ሱቅ",
    ),
    tongue(
        "kk",
        "Нан дүкені/Наубайхана | Дәріхана | Ет дүкені | Кітап дүкені | Шаштараз/Сұлулық салоны"
        " | Асхана/Мейрамхана | Кофехана/Шайхана | Гүлдер | Қонақүй | Азық-түлік/Дүкен | Аяқ киім"
        " | Киім/Тігін шеберханасы | Шаруашылық тауарлары | Оптика | Автожөндеу/Шина қызметі"
        " | Самсахана/Донер",
        "Нұрлан | Айгүл | Ерлан | Сәуле | Бауыржан | Гүлнар | Қайрат | Динара | Тимур | Жанар",
        "Алатау | Бәйтерек | Жұлдыз | Тұлпар | Көктем | Ақжол | Самал | Дала | Береке | Шаңырақ | Арман"
        " | Бәйшешек",
        "Орталық | Вокзал | Базар",
        common_form="«{house}» {trade}", town_form="«{town}» {trade}",
        forms="«{house}» {trade} | «{person}» {trade} | «{house} {second_house}» {trade}",
        street_forms="{} көшесі | {} даңғылы",
        street_stems="Сәтбаев | Әуезов | Жамбыл | Қонаев | Төле би | Байтұрсынов | Достық | Назарбаев"
        " | Сейфуллин | Тәуелсіздік",
        streets="Абай даңғылы | Бейбітшілік көшесі | Вокзал көшесі | Республика даңғылы",
        chains="B: Дәмді нан | P: Денсаулық дәрі | S: Қадам | G: Көрші маркет",
    ),
    tongue(
        "sw",
        "Duka la Mikate/Bakery | Duka la Dawa | Bucha/Butchery | Duka la Vitabu | Kinyozi/Saluni"
        " | Mgahawa/Hoteli | Kahawa/Chai Bora | Duka la Maua | Lodge/Nyumba ya Wageni | Duka/Minimarket"
        " | Viatu | Mitumba/Fundi Cherehani | Vifaa vya Ujenzi | Miwani | Gereji/Matairi"
        " | Nyama Choma/Chipsi",
        "Mama Amina | Baba Juma | Wanjiku | Otieno | Mwangi | Kamau | Achieng | Mzee Salim | Kiprono"
        " | Mama Neema | Barasa | Njoroge | Mushi | Mama Zawadi",
        "Upendo | Tumaini | Jambo | Neema | Baraka | Simba | Uhuru | Kilimanjaro | Amani | Twiga | Furaha"
        " | Pwani | Bahati | Umoja | Ziwa | Mwangaza",
        "Mjini | Sokoni | Stendi",
        forms="{trade} {person} | {trade} {house} | {trade} {house} na {second_house}",
        street_forms="Barabara ya {} | {} Road",
        street_stems="Nyerere | Kenyatta | Uhuru | Sokoine | Kaunda | Mwenge | Jamhuri | Bandari | Shule"
        " | Hospitali | Msikiti | Moi",
        streets="Barabara Kuu | Market Street | Station Road | Barabara ya Soko | Uhuru Avenue",
        chains="B: Mkate Mwema | P: Dawa Bora Plus | S: Hatua Viatu | G: Jirani Duka",
    ),
    tongue(
        "en-ng",
        "Bakery/Bread House | Pharmacy/Chemist | Meat Shop/Cold Room | Bookshop | Barbing Salon/Hair Palace"
        " | Restaurant/Canteen | Tea Spot/Lounge | Florist | Guest Inn/Hotel | Provision Store/Supermarket"
        " | Shoe Palace | Fashion/Tailoring | Building Materials/Tools | Eye Clinic | Motors/Vulcanizer"
        " | Suya Spot/Mama Put",
        "Adebayo | Okafor | Musa | Chukwu | Balogun | Eze | Ibrahim | Nwosu | Ogunleye | Danjuma | Okonkwo"
        " | Bello | Adeyemi | Uche | Afolabi | Effiong",
        "God's Favour | Blessed | Golden Gate | Divine | Peace | Royal Palm | New Dawn | Unity | Glory"
        " | Savannah | Destiny | Providence | Mercy | Iroko",
        "Central | Market | Junction",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {person} & Sons {trade} | {house} {person} {trade}",
        street_forms="{} Road | {} Street | {} Close",
        street_stems="Awolowo | Azikiwe | Hospital | Mission | Market | Palace | Tafawa Balewa | Mosque"
        " | Adeola | Okpara | School | Barracks",
        streets="Ahmadu Bello Way | Station Road | Old Market Road | Airport Road | Independence Way",
        chains="B: Sweetloaf | P: Wellspring Chemists | S: Footstride Naija | G: Everyday Basket",
    ),
)  # fmt: skip
