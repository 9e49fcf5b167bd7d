/** What the words in the names of values look like. */
const COLOURS: Readonly<Record<string, string>> = {
  white: "#ffffff", black: "#22262a", grey: "#9aa3ab", silver: "#b8c0c7", red: "#c62f2f", maroon: "#7a1f2b", orange: "#ef8a1d",
  yellow: "#f6c81e", gold: "#d9a520", green: "#2f8f4e", lime: "#9ad13c", turquoise: "#2fb3ad", teal: "#1f8a86", blue: "#2362b5",
  purple: "#7d4ba0", pink: "#eb8fb0", brown: "#7a5a3c", beige: "#e6d7b4", tan: "#d9bd8c", magenta: "#d0288f",
};

/** The colours that a name mentions, in its order. */
export function coloursOf(value: string): string[] {
  return value.split("_").flatMap((word) => COLOURS[word] ?? []);
}

export function hasWord(value: string, ...words: readonly string[]): boolean {
  const said = value.split("_");
  return words.some((word) => said.includes(word));
}

export const GLYPHS: Readonly<Record<string, string>> = {
  latin: "Abc", cyrillic: "Жя", arabic: "عرب", greek: "Ωλ", hebrew: "אב", armenian: "Աբ", georgian: "ქა", devanagari: "हि",
  bengali: "বা", tamil: "தமி", telugu: "తె", kannada: "ಕ", malayalam: "മ", sinhala: "සි", thai: "ไทย", lao: "ລາວ", khmer: "ខ្មែ",
  burmese: "မြ", tibetan: "བོད", hangul: "한글", han: "漢字", kana: "かな", ethiopic: "አማ", gujarati: "ગુ", gurmukhi: "ਪੰ", thaana: "ދި",
};

export interface LandLook {
  sky: string;
  ground: string;
  hills?: string;
  peaks?: boolean;
  snow?: boolean;
  water?: boolean;
  plant?: PlantKind;
}

export type PlantKind = "palm" | "conifer" | "round" | "cactus" | "bare" | "flat" | "bamboo" | "bush" | "rows" | "none";

export const LANDS: Readonly<Record<string, LandLook>> = {
  rainforest: { sky: "#dfeae6", ground: "#2f7a3f", plant: "palm" },
  savanna: { sky: "#e6eef2", ground: "#d3b565", plant: "flat" },
  hot_desert: { sky: "#f0e6cf", ground: "#e6c27f", plant: "none" },
  cold_desert: { sky: "#d5e0e8", ground: "#b8ab94", hills: "#8f8a80" },
  hot_steppe: { sky: "#eee6d6", ground: "#c9a86a", plant: "bush" },
  cold_steppe: { sky: "#cfe3f2", ground: "#bdb072", plant: "none" },
  mediterranean: { sky: "#bfe0f5", ground: "#c2ad6b", plant: "conifer" },
  humid_subtropical: { sky: "#dbe8ea", ground: "#5c9a4c", plant: "bamboo" },
  highland_monsoon: { sky: "#d7e2e4", ground: "#5c9a4c", hills: "#4f7f58" },
  temperate_green: { sky: "#cfd9e0", ground: "#6bab4f", plant: "round" },
  continental: { sky: "#d5e0e8", ground: "#8aa35c", plant: "bare" },
  boreal: { sky: "#d5e0e8", ground: "#6d8a63", plant: "conifer" },
  tundra: { sky: "#dfe6ea", ground: "#a59b74", plant: "none" },
  alpine: { sky: "#cfe3f2", ground: "#8f9a86", hills: "#7c8791", peaks: true },
  ice: { sky: "#d5e6f2", ground: "#ffffff" },
  flat_plain: { sky: "#cfe3f2", ground: "#a7b86a" },
  rolling_hills: { sky: "#cfe3f2", ground: "#8fae5c", hills: "#7b9c55" },
  low_mountains: { sky: "#cfe3f2", ground: "#7fa058", hills: "#5a7f58" },
  high_mountains: { sky: "#cfe3f2", ground: "#7f9468", hills: "#6d7781", peaks: true },
  snow_peaks: { sky: "#bfe0f5", ground: "#7f9468", hills: "#6d7781", peaks: true, snow: true },
  plateau: { sky: "#cfe3f2", ground: "#b8a873" },
  desert_plain: { sky: "#f0e6cf", ground: "#d9c08a" },
  sea_coast: { sky: "#cfe3f2", ground: "#d9c79a", water: true },
  river_town: { sky: "#cfe3f2", ground: "#8fae5c", water: true, hills: "#6f9460" },
  volcano_cones: { sky: "#cfe3f2", ground: "#6d6a64", hills: "#55514c", peaks: true },
  coral_low: { sky: "#bfe0f5", ground: "#f0e2b8", water: true, plant: "palm" },
  delta_wetland: { sky: "#cfe3f2", ground: "#7fa058", water: true },
};

export const PLANTS: Readonly<Record<string, PlantKind>> = {
  coconut: "palm", oil_palm: "palm", date_palm: "palm", royal_palm: "palm", babassu: "palm", carnauba: "palm", palmyra: "palm", areca: "palm",
  spruce: "conifer", scots_pine: "conifer", larch: "conifer", douglas_fir: "conifer", radiata_pine: "conifer", cypress: "conifer", poplar: "conifer",
  chir_pine: "conifer", columnar_cactus: "cactus", saguaro: "cactus", prickly_pear: "cactus", candelabra_euphorbia: "cactus", flat_acacia: "flat",
  stone_pine: "flat", bamboo: "bamboo", banana_plant: "palm", agave: "bush", gorse: "bush", pampas_grass: "bush", no_trees: "none",
  coconut_grove: "palm", date_grove: "palm", banana: "palm",
};
