"""What signs say in countries that have no made-up towns: only added regions lead there."""

from .land import land

SMALL_LANDS = (
    land(
        "MC", "mc", "Monaco;43.73;7.42;98000;9 | Monte-Carlo;43.74;7.43;98000;9 | La Condamine;43.73;7.42;98000;9"
        " | Fontvieille;43.73;7.41;98000;9",
        "Boulangerie | Pharmacie | Tabac Presse | Coiffeur | Restaurant | Fleuriste",
        "Rue Grimaldi | Boulevard des Moulins | Rue Caroline | Avenue Albert II", "12,50 € | 3,90 €", 8,
    ),
    land(
        "AD", "ad", "Andorra la Vella;42.51;1.52;AD500;8 | Escaldes-Engordany;42.51;1.53;AD700;8"
        " | Encamp;42.53;1.58;AD200;8 | Canillo;42.57;1.60;AD100;8",
        "Forn de pa | Farmàcia | Carnisseria | Llibreria | Perruqueria | Ferreteria",
        "Avinguda Meritxell | Avinguda Carlemany | Carrer Major | Plaça del Poble", "12,50 € | 3,90 €", 6,
    ),
)  # fmt: skip
