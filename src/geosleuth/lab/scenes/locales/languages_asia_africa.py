"""How shops and streets are called in Asia, the Middle East, the Caucasus and Africa."""

from .locale import language

ASIA = (
    language(
        "ja",
        "ベーカリー/パン工房 | 薬局 | 精肉店 | 書店 | 美容室/理容室 | 食堂/料理店 | 喫茶店/珈琲店 | 生花店"
        " | 旅館/ホテル | 商店/食料品店 | 靴店 | 洋品店/呉服店 | 金物店 | 眼鏡店 | 自動車整備/モータース"
        " | ラーメン/そば処",
        "山本 | 中村 | 小林 | 加藤 | 吉田 | 山田 | 松本 | 井上 | 木村 | 清水 | 斎藤 | 森田 | 池田 | 橋本"
        " | 石川 | 前田 | 藤井 | 岡本 | 長谷川 | 近藤 | 坂本 | 遠藤 | 青木 | 西村",
        "さくら | ひまわり | すずらん | みどり | あさひ | 松葉 | 鶴亀 | 富士見 | つばめ | まつかぜ | 千鳥"
        " | 若竹 | 白樺 | 福寿 | 菊水 | 浜風",
        "駅前 | 中央 | 本町",
        common_form="{house}{trade}", town_form="{town}{trade}",
        forms="{person}{trade} | {house}{trade} | {trade}{house}{person} | {house}屋{trade}",
        street_forms="{}通り | {}町",
        street_stems="桜 | 本 | 中央 | 昭和 | 大正 | 栄 | 朝日 | 末広 | 緑 | 寿 | 若葉 | 旭 | 宮前 | 松原"
        " | 銀杏 | 城下",
        streets="駅前通り | 本町通り | 中央通り | 学園通り | 商店街通り",
        chains="B: パンの森ハル | P: ほほえみ薬局 | S: くつの丸屋 | C: まめや珈琲 | O: メガネの光"
        " | G: まいにちマート",
    ),
    language(
        "ko",
        "베이커리/제과점 | 약국 | 정육점 | 서점/문고 | 미용실/헤어샵 | 식당/한식당 | 카페/다방 | 꽃집"
        " | 호텔/여관 | 슈퍼/마트 | 신발 | 의류/양복점 | 철물점 | 안경원 | 카센터/타이어 | 분식/치킨",
        "김가네 | 이씨네 | 박가네 | 최가네 | 정든 | 강씨네 | 조가네 | 윤씨네 | 장가네 | 임가네 | 한가네"
        " | 오씨네",
        "행복한 | 하늘 | 새싹 | 무지개 | 은행나무 | 참사랑 | 푸른 | 한마음 | 별빛 | 소나무 | 다정 | 햇살"
        " | 보람 | 진달래 | 청솔 | 온누리",
        "중앙 | 역전 | 시장",
        common_form="{house}{trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {second_house} {trade}",
        street_forms="{}로 | {}길",
        street_stems="시장 | 학교 | 벚꽃 | 강변 | 산성 | 문화 | 평화 | 은행나무 | 대학 | 향교 | 충무 | 세종"
        " | 번영 | 솔밭",
        streets="중앙로 | 역전길 | 시청로 | 충장로 | 터미널로",
        chains="B: 빵가득 | P: 미소온약국 | S: 발편한신발 | C: 커피한모금 | G: 우리동네마트24",
    ),
    language(
        "zh",
        "面包房/糕点店 | 大药房/药店 | 鲜肉店 | 书店 | 理发店/美发 | 饭店/酒楼 | 茶馆/咖啡馆 | 花店"
        " | 宾馆/旅馆 | 超市/便利店 | 鞋店 | 服装店/裁缝铺 | 五金店 | 眼镜店 | 汽修厂/轮胎店 | 面馆/小吃",
        "王记 | 李记 | 张记 | 刘记 | 陈记 | 杨记 | 赵记 | 周记 | 吴记 | 徐记 | 孙记 | 马记 | 朱记 | 胡记"
        " | 郭记 | 林记 | 何记 | 高记",
        "福源 | 吉祥 | 聚兴 | 德顺 | 永丰 | 同心 | 金泰 | 万和 | 恒昌 | 瑞祥 | 长城 | 春满 | 新月 | 锦绣"
        " | 如意 | 东来 | 家家乐 | 百花",
        "人民 | 新华 | 幸福",
        common_form="{house}{trade}", town_form="{town}{trade}",
        forms="{person}{trade} | {house}{trade} | 老{person}{trade} | {house}{second_house}{trade}",
        street_forms="{}路 | {}街",
        street_stems="建设 | 和平 | 文化 | 胜利 | 新民 | 东风 | 长江 | 黄河 | 学府 | 光明 | 站前 | 青年"
        " | 团结 | 迎宾 | 花园 | 朝阳",
        streets="人民路 | 解放路 | 中山路 | 新华街 | 北京路 | 建国路",
        chains="B: 麦香田 | P: 康民乐药房 | S: 步步轻鞋业 | G: 好邻惠超市 | C: 一杯山茶 | O: 明眸眼镜",
    ),
    language(
        "zh-hant",
        "麵包店/餅店 | 藥局/藥房 | 肉店 | 書局/文具行 | 髮廊/理髮廳 | 餐廳/小館 | 茶坊/冰室 | 花店"
        " | 旅社/飯店 | 雜貨店/超商 | 鞋行 | 服飾/西服號 | 五金行 | 眼鏡行 | 車行/輪胎行 | 麵店/便當",
        "阿明 | 阿海 | 老陳 | 林家 | 黃記 | 張家 | 蔡家 | 許記 | 鄭記 | 謝家 | 郭家 | 洪記 | 邱家 | 曾記"
        " | 廖家 | 賴記",
        "福興 | 大同 | 新生 | 寶島 | 永安 | 金龍 | 三和 | 春水 | 光華 | 美麗 | 泰和 | 合興 | 順發 | 興隆"
        " | 日月 | 榮記",
        "中央 | 車站 | 民生",
        common_form="{house}{trade}", town_form="{town}{trade}",
        forms="{person}{trade} | {house}{trade} | {house}{second_house}{trade}",
        street_forms="{}路 | {}街",
        street_stems="中山 | 民權 | 民生 | 和平 | 復興 | 忠孝 | 仁愛 | 信義 | 建國 | 文化 | 新生 | 博愛"
        " | 成功 | 光復",
        streets="中正路 | 民族路 | 自由路 | 公園路 | 車站前街",
        chains="B: 麥田小屋 | P: 安心藥局連鎖 | S: 輕步鞋坊 | G: 巷口好鄰 | C: 茶日和",
    ),
    language(
        "th",
        "ร้านขนมปัง/เบเกอรี่ | ร้านขายยา | ร้านขายเนื้อ | ร้านหนังสือ | ร้านตัดผม/ร้านเสริมสวย"
        " | ร้านอาหาร/ครัว | ร้านกาแฟ | ร้านดอกไม้ | โรงแรม/บ้านพัก | ร้านค้า/มินิมาร์ท | ร้านรองเท้า"
        " | ร้านเสื้อผ้า/ร้านตัดเสื้อ | ร้านวัสดุก่อสร้าง | ร้านแว่นตา | อู่ซ่อมรถ/ร้านยาง"
        " | ก๋วยเตี๋ยว/ข้าวมันไก่",
        "ป้าสมศรี | ลุงชัย | เจ๊นิด | พี่ต้อม | แม่ประนอม | ยายแก้ว | น้าสุข | เจ๊หมวย | ลุงดำ | ป้าน้อย"
        " | พี่แอน | โกเล้ง",
        "รุ่งเรือง | ทรัพย์เจริญ | มิตรภาพ | ดวงดาว | สวนสวย | บ้านสวน | แสงทอง | ไทยเจริญ | พรชัย | ริมน้ำ"
        " | ดอกแก้ว | ร่มเย็น | ศรีไทย | เพชรงาม",
        "กลางเมือง | หน้าสถานี | ตลาดสด",
        common_form="{trade}{house}", town_form="{trade}{town}",
        forms="{trade}{person} | {trade}{house} | {trade}{house}{second_house}",
        street_forms="ถนน{} | ซอย{}",
        street_stems="ราชดำเนิน | สุขุมวิท | พหลโยธิน | ประชาสามัคคี | รถไฟ | วัดใหญ่ | ศรีสุข | เจริญเมือง"
        " | ริมคลอง | เทศบาล | ดอกไม้ | สันติสุข",
        streets="ถนนตลาด | ถนนสถานี | ถนนเจริญราษฎร์ | ถนนหน้าเมือง | ถนนพระราม",
        chains="B: หอมกรุ่นเบเกอรี่ | P: ยาดีทุกบ้าน | S: ก้าวสบายรองเท้า | G: ใกล้บ้านมาร์ท",
    ),
    language(
        "vi",
        "Tiệm bánh/Lò bánh mì | Nhà thuốc | Cửa hàng thịt | Nhà sách | Tiệm tóc/Salon tóc | Nhà hàng/Quán ăn"
        " | Quán cà phê | Hoa tươi | Khách sạn/Nhà nghỉ | Tạp hóa/Siêu thị mini | Giày dép"
        " | Thời trang/Tiệm may | Điện nước/Vật liệu xây dựng | Mắt kính | Sửa xe/Gara ô tô | Phở/Cơm tấm",
        "Cô Ba | Anh Tư | Minh Châu | Hoàng Long | Thanh Hương | Bảy Hiền | Ngọc Lan | Bà Sáu | Quốc Khánh"
        " | Thu Thảo | Hải Yến | Chú Chín | Phương Nam | Kim Liên",
        "Sao Mai | Hoa Sen | Bình Minh | Thiên Phú | Hương Quê | Sông Xanh | Đại Phát | Phố Cổ | Trúc Xinh"
        " | An Khang | Mỹ Hạnh | Tân Tiến | Cây Bàng | Gió Biển",
        "Trung Tâm | Nhà Ga | Chợ Lớn",
        forms="{trade} {person} | {trade} {house} | {trade} {person} {house}",
        street_forms="Đường {} | Phố {}",
        street_stems="Lê Lợi | Trần Hưng Đạo | Hai Bà Trưng | Nguyễn Trãi | Quang Trung | Lý Thường Kiệt"
        " | Phan Chu Trinh | Hùng Vương | Điện Biên Phủ | Hoàng Diệu | Ngô Quyền | Lê Duẩn | Bạch Đằng"
        " | Nguyễn Du",
        streets="Đường Trần Phú | Đường Nguyễn Huệ | Đường 2 Tháng 9 | Phố Ga | Đường Hòa Bình",
        chains="B: Bánh Ngon Mỗi Ngày | P: Thuốc Tốt 247 | S: Giày Bước Nhẹ | G: Gần Nhà Mart",
    ),
    language(
        "id",
        "Toko Roti | Apotek | Toko Daging/Pasar Daging | Toko Buku | Salon/Pangkas Rambut"
        " | Rumah Makan/Restoran | Kedai Kopi/Warung Kopi | Toko Bunga | Penginapan/Hotel"
        " | Toko Kelontong/Minimarket | Toko Sepatu | Butik/Penjahit | Toko Besi/Toko Bangunan | Optik"
        " | Bengkel/Tambal Ban | Warung Bakso/Ayam Geprek",
        "Bu Tini | Pak Slamet | Haji Umar | Mbak Sri | Pak Joko | Bu Yanti | Mas Agus | Bang Ucok | Uni Rina"
        " | Cak Min | Bu Haji Siti | Pak Made",
        "Sumber Rejeki | Maju Jaya | Melati | Sinar Baru | Barokah | Bintang Timur | Cahaya Abadi"
        " | Sederhana | Mawar | Berkah Ibu | Mitra Sejati | Garuda Mas | Anugerah | Sari Rasa | Subur Makmur"
        " | Indah Permai",
        "Pusat | Pasar Baru | Stasiun",
        forms="{trade} {person} | {trade} {house} | {trade} {house} {second_house}",
        street_forms="Jalan {} | Gang {}",
        street_stems="Diponegoro | Ahmad Yani | Gajah Mada | Kartini | Pahlawan | Melati | Pemuda | Veteran"
        " | Hasanuddin | Imam Bonjol | Kenanga | Mawar | Gatot Subroto | Teuku Umar | Hayam Wuruk",
        streets="Jalan Jenderal Sudirman | Jalan Merdeka | Jalan Pasar | Jalan Stasiun | Jalan Raya Timur",
        chains="B: Rotiku Hangat | P: Apotek Sehatera | S: Langkah Sepatu | G: Tetangga Mart",
    ),
    language(
        "ms",
        "Kedai Roti | Farmasi | Kedai Daging | Kedai Buku | Kedai Gunting/Salon | Restoran/Kedai Makan"
        " | Kopitiam/Kedai Kopi | Kedai Bunga | Rumah Tumpangan/Hotel | Kedai Runcit/Pasar Mini"
        " | Kedai Kasut | Butik/Kedai Jahit | Perkakasan/Kedai Besi | Kedai Cermin Mata"
        " | Bengkel Kereta/Kedai Tayar | Nasi Kandar/Satay",
        "Pak Mat | Mak Jah | Haji Salleh | Ah Seng | Muthu | Kak Ros | Pak Long | Hock Lee | Cik Nah"
        " | Tok Ali | Raju | Wan",
        "Cahaya | Seri Murni | Bunga Raya | Harapan | Sentosa | Kelapa Sawit | Delima | Setia Maju"
        " | Anggerik | Permata | Kasih Ibu | Nusantara | Sinaran | Impian",
        "Bandar | Stesen | Pekan",
        forms="{trade} {person} | {trade} {house} | {trade} {house} {second_house}",
        street_forms="Jalan {} | Lorong {}",
        street_stems="Bunga Raya | Merdeka | Masjid | Sekolah | Sultan Ahmad | Kelapa | Kenari | Tun Razak"
        " | Besar | Pantai | Hospital | Seroja",
        streets="Jalan Pasar | Jalan Stesen | Jalan Tuanku Abdul Rahman | Jalan Bandar | Jalan Sultan",
        chains="B: Roti Suka | P: Farmasi Sihatku | S: Kasut Gaya Langkah | G: Jiran Mart",
    ),
    language(
        "tl",
        "Panaderya/Bakeshop | Botika | Meat Shop/Karnehan | Bookstore | Barber Shop/Parlor"
        " | Kainan/Carinderia | Kapihan | Flower Shop | Pension House/Lodge | Sari-Sari Store/Tindahan"
        " | Shoe Store | Tailoring/Ukay-Ukay | Hardware | Optical | Vulcanizing/Auto Supply"
        " | Lechonan/Ihaw-Ihaw",
        "Aling Nena | Mang Tomas | Dela Cruz | Bautista | Kuya Jun | Ate Baby | Villanueva | Macaraeg"
        " | Pangilinan | Lola Ising | Magsaysay | Tolentino | Dimaculangan | Aling Puring",
        "Bagong Pag-asa | Sampaguita | Bituin | Tres Marias | Bayanihan | Perlas | Tatlong Hari | Lakeview"
        " | Kabayan | Sto. Niño | Mabuhay | Ilang-Ilang",
        "Poblacion | Terminal | Plaza",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {second_house} {trade}",
        street_forms="{} Street | {} Avenue",
        street_stems="Mabini | Bonifacio | Luna | Del Pilar | Aguinaldo | Quezon | Osmeña | Burgos"
        " | Sampaguita | San Roque | Jacinto | Magsaysay",
        streets="Rizal Street | National Highway | Mabini Avenue | Plaza Street | Roxas Boulevard",
        chains="B: Pandesal ni Lolo | P: Botika Bayani | S: Hakbang Shoes | G: Suki Mart",
    ),
    language(
        "my",
        "မုန့်တိုက် | ဆေးဆိုင် | အသားဆိုင် | စာအုပ်ဆိုင် | ဆံသဆိုင် | စားသောက်ဆိုင်/ထမင်းဆိုင်"
        " | လက်ဖက်ရည်ဆိုင် | ပန်းဆိုင် | ဟိုတယ်/တည်းခိုခန်း | ကုန်စုံဆိုင် | ဖိနပ်ဆိုင် | အထည်ဆိုင်"
        " | သံထည်ဆိုင် | မျက်မှန်ဆိုင် | ကားပြင်ဆိုင် | မုန့်ဟင်းခါး",
        "ဒေါ်အေး | ဦးဘ | မအေး | ကိုကျော် | ဒေါ်မြ | ဦးလှ | မစန်း | ကိုမြင့် | ဒေါ်ခင် | ဦးသန်း",
        "ရွှေ | အောင်မြေ | သီရိ | မြန်မာ | ငွေ | ပုလဲ | သုခ | ရတနာ | နေခြည် | စိန် | ကံကောင်း | မေတ္တာ",
        "ဈေး | ဘူတာ | မြို့လယ်",
        common_form="{house}{trade}", town_form="{town}{trade}",
        forms="{person}{trade} | {house}{trade} | {house}{second_house}{trade}",
        street_forms="{}လမ်း",
        street_stems="ဗိုလ်ချုပ် | ပြည် | ကမ်းနား | စက်မှု | ကျောင်း | ဘုရား | ဈေး | မြစ် | ရွှေ | သီရိ"
        " | အောင်ဆန်း | ဗဟို",
        streets="မဟာဗန္ဓုလလမ်း | ဘူတာလမ်း | လမ်းမတော် | ပန်းဆိုးတန်း",
        chains="B: မုန့်ချိုချို | P: ကျန်းမာဆေး | S: ခြေလှမ်းဖိနပ် | G: အိမ်နီးချင်းစတိုး",
    ),
)  # fmt: skip


SOUTH = (
    language(
        "hi",
        "बेकरी | मेडिकल स्टोर/दवाखाना | मांस भंडार | पुस्तक भंडार | हेयर सैलून/नाई | भोजनालय/रेस्टोरेंट"
        " | चाय स्टॉल/कॉफी हाउस | फूल भंडार | होटल/धर्मशाला | किराना स्टोर/जनरल स्टोर | जूता घर"
        " | वस्त्रालय/टेलर्स | हार्डवेयर | चश्मा घर | ऑटो गैरेज/टायर सर्विस | मिष्ठान भंडार/चाट भंडार",
        "शर्मा | गुप्ता | अग्रवाल | वर्मा | मिश्रा | यादव | चौहान | तिवारी | सक्सेना | जैन | पांडे | राठौर",
        "श्री गणेश | लक्ष्मी | अन्नपूर्णा | न्यू भारत | जय अंबे | शिव शक्ति | गंगा | अशोका | महावीर"
        " | सरस्वती | राधे कृष्ण | हिमालय | कमल | बालाजी",
        "सिटी | स्टेशन | चौक",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {person} एंड संस {trade} | {house} {person} {trade}",
        street_forms="{} मार्ग | {} रोड",
        street_stems="नेहरू | सुभाष | तिलक | आजाद | पटेल | राजेंद्र | मालवीय | शिवाजी | किला | मंदिर | कमल"
        " | झील",
        streets="महात्मा गांधी मार्ग | स्टेशन रोड | सदर बाजार | मुख्य बाजार | जवाहर मार्ग",
        chains="B: रोटी घर | P: जीवन रेखा फार्मेसी | S: कदम फुटवियर | G: अपना स्टोर",
    ),
    language(
        "ne",
        "बेकरी | फार्मेसी/औषधि पसल | मासु पसल | पुस्तक पसल | सैलुन/ब्युटी पार्लर | भान्साघर/रेस्टुरेन्ट"
        " | चिया पसल | फूल पसल | गेस्ट हाउस/लज | किराना पसल/मार्ट | जुत्ता पसल | कपडा पसल/सिलाई केन्द्र"
        " | हार्डवेयर | चस्मा पसल | मोटर वर्कशप | मोमो पसल/खाजा घर",
        "श्रेष्ठ | तामाङ | गुरुङ | अधिकारी | पौडेल | थापा | राई | महर्जन | कार्की | शाक्य",
        "हिमाल | सगरमाथा | पशुपति | नमस्ते | अन्नपूर्ण | लालीगुराँस | माछापुच्छ्रे | शान्ति | नयाँ नेपाल"
        " | चौतारी",
        "बसपार्क | चोक | बजार",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} मार्ग | {} टोल",
        street_stems="पृथ्वी | त्रिभुवन | महेन्द्र | बुद्ध | भानु | सिद्धार्थ | लेकसाइड | मन्दिर | सहिद | गणेश",
        streets="नयाँ सडक | मुख्य चोक | बजार मार्ग | बसपार्क मार्ग",
        chains="B: रोटी कुना | P: स्वस्थ औषधि | S: पाइला जुत्ता | G: छिमेकी मार्ट",
    ),
    language(
        "ta",
        "பேக்கரி | மருந்தகம் | இறைச்சிக் கடை | புத்தக நிலையம் | முடி திருத்தகம் | உணவகம்/மெஸ்"
        " | காபி கடை/டீ கடை | பூக்கடை | விடுதி/லாட்ஜ் | மளிகைக் கடை/ஸ்டோர்ஸ் | காலணியகம்"
        " | ஜவுளிக் கடை/தையலகம் | ஹார்டுவேர்ஸ் | கண்ணாடி கடை | ஆட்டோ ஒர்க்ஸ் | இனிப்பகம்/பரோட்டா கடை",
        "முருகன் | செல்வம் | குமரன் | ராமசாமி | கண்ணன் | பாண்டியன் | சுந்தரம் | ஆறுமுகம் | மணி | வேலன்",
        "ஸ்ரீ மீனாட்சி | அன்னை | புதிய | சரவணா | தாமரை | காவேரி | அமுதசுரபி | மலர் | லட்சுமி | நிலா | தமிழ்"
        " | பொன்னி",
        "நகர் | நிலையம் | பஜார்",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} சாலை | {} தெரு",
        street_stems="நேரு | பாரதி | கோவில் | அண்ணா | காமராஜ் | வடக்கு | தெற்கு | மேற்கு | ராஜாஜி | பள்ளி"
        " | குளம்",
        streets="காந்தி சாலை | கடை வீதி | நிலைய சாலை | மாரியம்மன் கோவில் தெரு",
        chains="B: ரொட்டி வீடு | P: நலம் மருந்தகம் | S: நடை காலணி | G: நம்ம ஸ்டோர்",
    ),
    language(
        "te",
        "బేకరీ | మెడికల్స్/మందుల షాపు | మాంసం దుకాణం | పుస్తకాలయం | హెయిర్ సెలూన్ | భోజనశాల/రెస్టారెంట్"
        " | టీ స్టాల్/కాఫీ హోటల్ | పూల దుకాణం | లాడ్జి/హోటల్ | కిరాణా స్టోర్/జనరల్ స్టోర్స్ | చెప్పుల షాపు"
        " | వస్త్రాలయం/టైలర్స్ | హార్డ్‌వేర్ | కళ్ళద్దాల షాపు | ఆటో గ్యారేజీ | మిఠాయి దుకాణం/బిర్యానీ",
        "రావు | రెడ్డి | నాయుడు | శాస్త్రి | మూర్తి | వర్మ | చౌదరి | ప్రసాద్ | కృష్ణ | గౌడ్",
        "శ్రీ లక్ష్మి | సాయి | వెంకటేశ్వర | గోదావరి | కొత్త | తిరుమల | పద్మావతి | దుర్గ | నవయుగ | మల్లె"
        " | జ్యోతి | ఉదయ",
        "సిటీ | స్టేషన్ | బజార్",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} రోడ్డు | {} వీధి",
        street_stems="నెహ్రూ | గాంధీ | టెంపుల్ | బజార్ | రాజీవ్ | కోట | చెరువు | పాత బస్టాండ్ | ఎన్టీఆర్"
        " | కాలేజీ",
        streets="స్టేషన్ రోడ్డు | మెయిన్ రోడ్డు | మార్కెట్ వీధి | కలెక్టరేట్ రోడ్డు",
        chains="B: రొట్టె ఇల్లు | P: ఆరోగ్య మెడికల్స్ | S: నడక చెప్పులు | G: మన స్టోర్",
    ),
    language(
        "kn",
        "ಬೇಕರಿ | ಔಷಧಿ ಅಂಗಡಿ/ಮೆಡಿಕಲ್ಸ್ | ಮಾಂಸದ ಅಂಗಡಿ | ಪುಸ್ತಕ ಮಳಿಗೆ | ಹೇರ್ ಸಲೂನ್ | ಊಟದ ಮನೆ/ಹೋಟೆಲ್ | ಕಾಫಿ ಬಾರ್"
        " | ಹೂವಿನ ಅಂಗಡಿ | ವಸತಿ ಗೃಹ/ಲಾಡ್ಜ್ | ದಿನಸಿ ಅಂಗಡಿ/ಸ್ಟೋರ್ಸ್ | ಪಾದರಕ್ಷೆ | ಬಟ್ಟೆ ಅಂಗಡಿ/ಟೈಲರ್ಸ್"
        " | ಹಾರ್ಡ್‌ವೇರ್ | ಕನ್ನಡಕ ಅಂಗಡಿ | ಆಟೋ ಗ್ಯಾರೇಜ್ | ತಿಂಡಿ ಮನೆ/ಸಿಹಿ ತಿನಿಸು",
        "ಗೌಡ | ಶೆಟ್ಟಿ | ಭಟ್ | ಹೆಗಡೆ | ರಾವ್ | ಪಾಟೀಲ | ಆಚಾರ್ಯ | ನಾಯಕ | ಕಾಮತ್ | ಪೈ",
        "ಶ್ರೀ ಕೃಷ್ಣ | ಕಾವೇರಿ | ನಂದಿನಿ | ಚಾಮುಂಡಿ | ಹೊಸ | ಅನ್ನಪೂರ್ಣೇಶ್ವರಿ | ಮಲ್ಲಿಗೆ | ದೀಪಾ | ತುಂಗಾ | ಸಹ್ಯಾದ್ರಿ"
        " | ಬಸವ | ಗಣೇಶ",
        "ನಗರ | ನಿಲ್ದಾಣ | ಪೇಟೆ",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} ರಸ್ತೆ | {} ಬೀದಿ",
        street_stems="ಗಾಂಧಿ | ನೆಹರು | ದೇವಸ್ಥಾನ | ಕೋಟೆ | ಕುವೆಂಪು | ಬಸವೇಶ್ವರ | ಕೆರೆ | ಕಾಲೇಜು | ಮಾರುಕಟ್ಟೆ"
        " | ಟಿಪ್ಪು",
        streets="ನಿಲ್ದಾಣ ರಸ್ತೆ | ಮುಖ್ಯ ರಸ್ತೆ | ರಥ ಬೀದಿ | ಪೇಟೆ ಬೀದಿ",
        chains="B: ರೊಟ್ಟಿ ಮನೆ | P: ಆರೋಗ್ಯ ಔಷಧಿ | S: ಹೆಜ್ಜೆ ಪಾದರಕ್ಷೆ | G: ನಮ್ಮ ಅಂಗಡಿ",
    ),
    language(
        "ml",
        "ബേക്കറി | മെഡിക്കൽ സ്റ്റോർ/ഔഷധശാല | ഇറച്ചിക്കട | പുസ്തകശാല | ബാർബർ ഷോപ്പ് | ഭക്ഷണശാല/ഹോട്ടൽ"
        " | ചായക്കട/കാപ്പിക്കട | പൂക്കട | ലോഡ്ജ്/ടൂറിസ്റ്റ് ഹോം | പലചരക്ക് കട/സ്റ്റോഴ്സ് | ചെരിപ്പുകട"
        " | തുണിക്കട/ടെയ്‌ലേഴ്സ് | ഹാർഡ്‌വെയർ | കണ്ണടക്കട | വർക്ക്ഷോപ്പ് | തട്ടുകട/ബിരിയാണി",
        "നായർ | മേനോൻ | വർഗീസ് | പിള്ള | കോയ | തോമസ് | കുട്ടൻ | മാത്യു | നമ്പ്യാർ | ഹാജി",
        "ശ്രീ പത്മം | കേരള | നിള | പുതിയ | ഓണം | മലബാർ | പെരിയാർ | ചെമ്പകം | കടൽ | സൂര്യ | താമര | മഴവില്ല്",
        "സിറ്റി | സ്റ്റേഷൻ | ചന്ത",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} റോഡ് | {} തെരുവ്",
        street_stems="ഗാന്ധി | ക്ഷേത്രം | പള്ളി | കായൽ | കോട്ട | ചന്ത | പാലം | കോളേജ് | ബീച്ച് | ടാഗോർ",
        streets="സ്റ്റേഷൻ റോഡ് | എം.ജി. റോഡ് | മെയിൻ റോഡ് | ബസാർ റോഡ്",
        chains="B: അപ്പം വീട് | P: സുഖം മെഡിക്കൽസ് | S: ചുവട് ഫുട്‌വെയർ | G: നാട്ടുകട",
    ),
    language(
        "gu",
        "બેકરી | મેડિકલ સ્ટોર/દવાની દુકાન | માંસની દુકાન | પુસ્તક ભંડાર | હેર સલૂન | ભોજનાલય/ડાઇનિંગ હોલ"
        " | ચાની કીટલી/કોફી હાઉસ | ફૂલ ભંડાર | ગેસ્ટ હાઉસ/લોજ | કરિયાણા સ્ટોર/પ્રોવિઝન સ્ટોર | બૂટ ચંપલ"
        " | વસ્ત્ર ભંડાર/ટેલર્સ | હાર્ડવેર | ચશ્મા ઘર | ઓટો ગેરેજ | ફરસાણ/મીઠાઈ ઘર",
        "પટેલ | શાહ | મહેતા | દેસાઈ | જોશી | ત્રિવેદી | પરમાર | સોલંકી | વ્યાસ | મોદી",
        "શ્રી અંબિકા | જય જલારામ | ગાયત્રી | સોમનાથ | નવજીવન | ગિરનાર | નર્મદા | ખોડિયાર | સ્વસ્તિક | ઉમિયા"
        " | કૈલાસ | આશાપુરા",
        "સિટી | સ્ટેશન | ચોક",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} રોડ | {} માર્ગ",
        street_stems="ગાંધી | નહેરુ | સરદાર | મંદિર | કોલેજ | રિંગ | કિલ્લા | બજાર | તળાવ | ટાવર",
        streets="સ્ટેશન રોડ | મુખ્ય બજાર | રાજ માર્ગ | ટાવર ચોક",
        chains="B: રોટલી ઘર | P: તંદુરસ્ત મેડિકલ | S: પગલાં ફૂટવેર | G: આપણો સ્ટોર",
    ),
    language(
        "pa",
        "ਬੇਕਰੀ | ਮੈਡੀਕਲ ਸਟੋਰ/ਦਵਾਖਾਨਾ | ਮੀਟ ਸ਼ਾਪ | ਕਿਤਾਬ ਘਰ | ਹੇਅਰ ਸੈਲੂਨ | ਢਾਬਾ/ਰੈਸਟੋਰੈਂਟ | ਚਾਹ ਦੀ ਦੁਕਾਨ"
        " | ਫੁੱਲਾਂ ਦੀ ਦੁਕਾਨ | ਹੋਟਲ/ਗੈਸਟ ਹਾਊਸ | ਕਰਿਆਨਾ ਸਟੋਰ/ਜਨਰਲ ਸਟੋਰ | ਜੁੱਤੀ ਘਰ | ਕੱਪੜਾ ਹਾਊਸ/ਟੇਲਰਜ਼"
        " | ਹਾਰਡਵੇਅਰ | ਐਨਕ ਘਰ | ਆਟੋ ਗੈਰਾਜ | ਲੱਸੀ ਭੰਡਾਰ/ਮਿਠਾਈਆਂ",
        "ਸਿੰਘ | ਗਿੱਲ | ਸੰਧੂ | ਢਿੱਲੋਂ | ਬਰਾੜ | ਅਰੋੜਾ | ਭਾਟੀਆ | ਸਿੱਧੂ | ਕਪੂਰ | ਖੰਨਾ",
        "ਨਿਊ ਪੰਜਾਬ | ਸਤਲੁਜ | ਗੁਰੂ ਨਾਨਕ | ਸ਼ੇਰੇ ਪੰਜਾਬ | ਬਿਆਸ | ਹਵੇਲੀ | ਮਾਲਵਾ | ਚੜ੍ਹਦੀ ਕਲਾ | ਰਾਵੀ | ਫੁਲਕਾਰੀ",
        "ਸਿਟੀ | ਸਟੇਸ਼ਨ | ਚੌਕ",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} ਰੋਡ | {} ਬਾਜ਼ਾਰ",
        street_stems="ਕਚਹਿਰੀ | ਕਾਲਜ | ਗੁਰਦੁਆਰਾ | ਭਗਤ ਸਿੰਘ | ਕਿਲ੍ਹਾ | ਸਰਕੂਲਰ | ਲਾਰੰਸ | ਹਾਲ | ਨਹਿਰੂ | ਅਨਾਜ ਮੰਡੀ",
        streets="ਮਾਲ ਰੋਡ | ਸਟੇਸ਼ਨ ਰੋਡ | ਜੀ.ਟੀ. ਰੋਡ | ਮੇਨ ਬਾਜ਼ਾਰ",
        chains="B: ਰੋਟੀ ਘਰ ਪੰਜਾਬ | P: ਤੰਦਰੁਸਤ ਮੈਡੀਕਲ | S: ਕਦਮ ਜੁੱਤੀ | G: ਆਪਣਾ ਸਟੋਰ",
    ),
    language(
        "bn",
        "বেকারি | ফার্মেসি/ঔষধালয় | মাংসের দোকান | বইঘর/লাইব্রেরি | সেলুন/বিউটি পার্লার | রেস্তোরাঁ/হোটেল"
        " | চায়ের দোকান/কফি শপ | ফুলের দোকান | আবাসিক হোটেল/গেস্ট হাউস | মুদি দোকান/জেনারেল স্টোর | জুতা ঘর"
        " | বস্ত্রালয়/টেইলার্স | হার্ডওয়্যার | চশমা ঘর | অটো গ্যারেজ | মিষ্টান্ন ভান্ডার/বিরিয়ানি হাউস",
        "রহমান | করিম | হোসেন | চৌধুরী | ইসলাম | সরকার | তালুকদার | মিয়া | খন্দকার | সাহা | দেবনাথ | ভূঁইয়া",
        "নিউ ঢাকা | পদ্মা | মায়ের দোয়া | সোনার বাংলা | বিসমিল্লাহ | শাপলা | মেঘনা | রূপসী | আল মদিনা"
        " | দোয়েল | কর্ণফুলী | সুরমা",
        "সিটি | স্টেশন | বাজার",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} রোড | {} সড়ক",
        street_stems="কলেজ | নজরুল | শহীদ | বঙ্গবন্ধু | মসজিদ | কোর্ট | নদী | রবীন্দ্র | হাসপাতাল | বাইপাস"
        " | শাহজালাল",
        streets="স্টেশন রোড | বাজার রোড | ভিআইপি সড়ক | মেইন রোড",
        chains="B: পাউরুটি ঘর | P: সুস্থ ফার্মা | S: পদক্ষেপ জুতা | G: পাড়ার দোকান",
    ),
    language(
        "si",
        "බේකරිය | ෆාමසිය | මස් කඩය | පොත්හල | සැලෝනය | අවන්හල/හෝටලය | තේ කඩය/කෝපි හල | මල් කඩය"
        " | නවාතැන/තානායම | සිල්ලර කඩය/වෙළඳසැල | සපත්තු සාප්පුව | ඇඳුම් සාප්පුව/මැහුම් හල | ලොකු බඩු කඩය"
        " | කණ්ණාඩි සාප්පුව | ගරාජය | කොත්තු කඩය/කෑම කඩය",
        "පෙරේරා | සිල්වා | ප්‍රනාන්දු | බණ්ඩාර | ජයසිංහ | විජේසිංහ | රත්නායක | දිසානායක | කුමාර | මෙන්ඩිස්",
        "සිරි | රුවන් | නෙළුම් | සඳ | හිරු | ශ්‍රී ලංකා | සමන් | මැණික් | කඩුපුල් | අරලිය",
        "නගර | දුම්රියපල | පොළ",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} පාර | {} වීදිය",
        street_stems="පන්සල | පාසල | වෙරළ | ගඟ | රජ | කොටුව | රෝහල | වැව | පල්ලිය | උද්‍යාන",
        streets="මහ වීදිය | දුම්රියපල පාර | ගාලු පාර | කොළඹ වීදිය",
        chains="B: පාන් ගෙදර | P: සුව ෆාමසි | S: පියවර සපත්තු | G: අසල්වැසි සුපිරි",
    ),
    language(
        "ur",
        "بیکری | میڈیکل سٹور/فارمیسی | گوشت شاپ | کتاب گھر/بک ڈپو | ہیئر سیلون | ریسٹورنٹ/ہوٹل | چائے خانہ"
        " | پھول گھر | گیسٹ ہاؤس/مسافر خانہ | کریانہ سٹور/جنرل سٹور | جوتا گھر | کلاتھ ہاؤس/ٹیلرز | ہارڈویئر"
        " | چشمہ گھر | آٹو ورکشاپ/ٹائر شاپ | تکہ شاپ/بریانی سنٹر",
        "خان | چوہدری | ملک | بٹ | شیخ | قریشی | راجہ | مغل | بھٹی | صدیقی | جٹ | اعوان",
        "مدینہ | پاک | نیو لاہور | گلشن | بسم اللہ | شالیمار | راوی | مہران | ستارہ | المکہ | چناب | خیبر",
        "سٹی | سٹیشن | چوک",
        common_form="{house} {trade}", town_form="{town} {trade}",
        forms="{person} {trade} | {house} {trade} | {house} {person} {trade}",
        street_forms="{} روڈ | {} بازار",
        street_stems="جناح | اقبال | لیاقت | کچہری | قلعہ | نہر | سرکلر | کالج | مسجد | جی ٹی | ریلوے",
        streets="مال روڈ | صدر بازار | سٹیشن روڈ | قائد اعظم روڈ",
        chains="B: روٹی گھر پاک | P: صحت فارما | S: قدم شوز | G: پڑوسی مارٹ",
    ),
)  # fmt: skip


SOUTH_WEST = (
    language(
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
    language(
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
    language(
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
    language(
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
    language(
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
    language(
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
    language(
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
    language(
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
    language(
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
