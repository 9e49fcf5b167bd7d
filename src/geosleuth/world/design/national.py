"""Chains and firms that are at home in one country, for made-up scenes alone; not from the tables that read clues."""

from collections.abc import Mapping

_NAMES = (
    "DE; EDEKA; Sparkasse; Rewe | AT; Hofer; Lagerhaus; Bipa | CH; Denner; Volg; Coop Pronto"
    " | FR; Monoprix; Franprix; Crédit Agricole | NL; Albert Heijn; Etos; Gall & Gall | BE; Delhaize; Colruyt; Belfius"
    " | IT; Esselunga; Conad; Poste Italiane | ES; Mercadona; Caprabo; Correos | PT; Continente; Minipreço; CTT"
    " | GB; Greggs; Boots; Sainsbury's | IE; SuperValu; Centra; Supermac's | US; Walgreens; Dollar General; Chick-fil-A"
    " | CA; Canadian Tire; Shoppers Drug Mart; Rexall | AU; Coles; Bunnings; Chemist Warehouse"
    " | NZ; Countdown; The Warehouse; Kiwibank | ZA; Pick n Pay; Checkers; Capitec Bank | PL; Żabka; Biedronka; Orlen"
    " | SE; ICA; Systembolaget; Pressbyrån | NO; Rema 1000; Vinmonopolet; Narvesen | DK; Føtex; Irma; Matas"
    " | FI; K-Market; Alko; R-kioski | IS; Bónus; Vínbúðin; Krónan | TR; BİM; A101; Ziraat Bankası"
    " | JP; すき家; 吉野家; ゆうちょ銀行 | KR; 이디야커피; 올리브영; 우리은행 | CN; 中国工商银行; 瑞幸咖啡; 中国邮政"
    " | TW; 全聯福利中心; 台灣銀行; 中華郵政 | BR; Casas Bahia; Drogasil; Caixa | MX; OXXO; Soriana; Banorte"
    " | AR; YPF; Farmacity; Banco Nación | CL; Copec; Cruz Verde; BancoEstado | CO; Éxito; Drogas La Rebaja; Davivienda"
    " | PE; Inkafarma; Plaza Vea; Interbank | RU; Пятёрочка; Магнит; Сбербанк | UA; АТБ; Нова Пошта; Ощадбанк"
    " | IN; State Bank of India; Apollo Pharmacy; Amul | PH; Mercury Drug; Chowking; Metrobank"
    " | ID; Indomaret; Alfamart; Bank Mandiri | MY; 99 Speedmart; Maybank; Petronas | VN; Vietcombank; Điện Máy Xanh"
    " | KE; Naivas; M-Pesa; Equity Bank | NG; GTBank; Zenith Bank; Chicken Republic | EE; Selver; Apollo; Omniva"
    " | HU; CBA; OTP Bank; Magyar Posta | RO; Mega Image; Dedeman; Banca Transilvania | GR; Σκλαβενίτης; ΟΠΑΠ; ΕΛΤΑ"
    " | IL; שופרסל; בנק הפועלים; דואר ישראל | HR; Konzum; Tisak; INA | SI; Mercator; Petrol; Pošta Slovenije"
    " | BG; Фантастико; Банка ДСК; Български пощи | SK; COOP Jednota; Slovnaft; Slovenská pošta"
    " | CZ; Česká pošta; Sazka; Benzina | LT; Iki; Senukai; Lietuvos paštas | LV; Drogas; Rimi; Latvijas Pasts"
    " | TH; ธนาคารกรุงไทย; ไปรษณีย์ไทย | MA; Attijariwafa bank; Marjane | RS; Пошта Србије; Макси"
    " | KZ; Қазпошта; Magnum; Halyk Bank | GE; ლიბერთი ბანკი; საქართველოს ბანკი | LK; Keells; Cargills Food City"
)  # fmt: skip


def _read(text: str) -> Mapping[str, tuple[str, ...]]:
    found = {}
    for part in text.split("|"):
        country, *names = (word.strip() for word in part.split(";"))
        found[country] = tuple(names)
    return found


NATIONAL = _read(_NAMES)
"""Names over doors by country."""
