"""How shops and streets are called in French, Italian, Spanish, Portuguese and Romanian."""

from .tongue import tongue

ROMANCE = (
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
    tongue(
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
