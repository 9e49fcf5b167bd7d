"""How shops and streets are called in East and South-East Asia."""

from .tongue import tongue

ASIA = (
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
