/** Small drawings of what the field guide asks about, made from the words in a value's name: its colours and its form. */
import type { ComponentChildren } from "preact";
import { coloursOf, GLYPHS, hasWord, LANDS, PLANTS } from "./looks";
import { SCENES } from "./scenes";
import { Car, House, Land, Plant, Plate, Pole, Road, Sign } from "./shapes";
import { centreStripes, edgeStripes, plainStripes } from "./stripes";

export function Drawing({ attribute, value }: { attribute: string; value: string }) {
  return (
    <svg class="see-drawing" viewBox="0 0 48 36" width="48" height="36" aria-hidden="true">
      {drawn(attribute, value)}
    </svg>
  );
}

function drawn(attribute: string, value: string): ComponentChildren {
  const colours = coloursOf(value);
  const [first = "#9aa3ab", second = "#ffffff"] = colours;
  switch (attribute) {
    case "driving_side":
      return <Road stripes={centreStripes("white_dashed")} carAt={value === "left" ? 15 : 33} />;
    case "centre_line":
      return <Road stripes={centreStripes(value)} />;
    case "edge_line":
      return <Road stripes={edgeStripes(value)} />;
    case "kerb":
      return <Blocks colours={colours.length === 1 ? [first] : colours} />;
    case "bollard":
    case "kilometre_marker":
      return <Pole colours={["#ffffff", ...colours.filter((one) => one !== "#ffffff")]} short />;
    case "sign_post":
      return <Pole colours={colours.length > 0 ? colours : ["#9aa3ab"]} sign />;
    case "utility_pole":
      return <Pole colours={[hasWord(value, "wood", "trunk") ? "#8a5a33" : hasWord(value, "steel", "metal", "rusty") ? "#6f7c88" : "#c3c0b8"]} arms none={value === "none"} holes={hasWord(value, "holey", "holes", "ladder", "pinholes")} />;
    case "street_lamp":
      return <Pole colours={[first]} lamp />;
    case "plate_front":
    case "plate_rear":
    case "plate_characters":
    case "plate_shape":
    case "plate_required_front":
      return <Plate attribute={attribute} value={value} colours={colours} />;
    case "warning_sign":
    case "direction_sign":
    case "motorway_sign":
    case "speed_limit_sign":
    case "crossing_sign":
    case "chevron":
    case "street_name_plate":
    case "sign_back":
      return <Sign attribute={attribute} value={value} first={first} second={second} />;
    case "taxi_colour":
    case "rickshaw_colour":
    case "police_car":
    case "vehicle_kind":
      return <Car colours={colours} high={attribute === "rickshaw_colour" || hasWord(value, "bus", "minibus", "van", "truck", "decker")} two={hasWord(value, "motorbikes", "moto", "rickshaw")} />;
    case "post_box":
    case "bins":
    case "phone_box":
    case "fire_hydrant":
      return <rect x="15" y="6" width="18" height="26" rx={attribute === "fire_hydrant" ? 8 : 3} fill={first} stroke="#4a545d" />;
    case "roof":
    case "wall":
    case "house_form":
    case "window":
    case "water_tank":
    case "wall_fittings":
      return <House attribute={attribute} value={value} colours={colours} />;
    case "soil_colour":
      return <Land sky="#cfe3f2" ground={colours[0] ?? (hasWord(value, "desert", "sand") ? "#e2c892" : hasWord(value, "laterite", "rossa") ? "#b5482a" : "#7a5a3c")} />;
    case "climate_look":
    case "relief":
      return <Land {...(LANDS[value] ?? { sky: "#cfe3f2", ground: "#9fb57a" })} />;
    case "tree":
    case "crop":
      return <Plant kind={PLANTS[value] ?? (attribute === "crop" ? "rows" : "round")} />;
    case "script":
      return <Glyph words={GLYPHS[value] ?? "Aa"} />;
    case "road_surface":
      return <Road surface={hasWord(value, "red", "reddish") ? "#b56a4d" : hasWord(value, "concrete") ? "#c9c7c0" : hasWord(value, "gravel", "sand", "unpaved") ? "#d3b98b" : hasWord(value, "brick", "cobbles", "paving") ? "#a98a7c" : "#5b636b"} />;
    case "road_marking_special":
      return <Road stripes={plainStripes(first)} />;
    case "wires":
    case "traffic_light":
      return <Pole colours={["#6f7c88"]} arms={attribute === "wires"} light={attribute === "traffic_light"} />;
    case "fence":
    case "guard_rail":
      return <Fence colours={colours} wall={hasWord(value, "wall", "block", "blocks", "panels", "concrete")} hedge={hasWord(value, "hedgerow", "windbreak")} />;
    case "sign_unit":
      return <Glyph words={value === "miles" ? "mi" : "km"} />;
    default:
      return SCENES[value]?.() ?? <Dots colours={colours} />;
  }
}

function Glyph({ words }: { words: string }) {
  return (
    <text x="24" y="26" text-anchor="middle" font-size="20" fill="currentColor">
      {words}
    </text>
  );
}

function Blocks({ colours }: { colours: readonly string[] }) {
  return (
    <>
      <rect x="0" y="22" width="48" height="14" fill="#5b636b" />
      {Array.from({ length: 6 }, (_, index) => (
        <rect key={index} x={index * 8} y="14" width="8" height="9" fill={colours[index % Math.max(1, colours.length)] ?? "#c3c0b8"} stroke="#4a545d" stroke-width="0.500" />
      ))}
    </>
  );
}

function Fence({ colours, wall, hedge }: { colours: readonly string[]; wall: boolean; hedge: boolean }) {
  if (hedge) return <path d="M2 30V16q4-8 9-3q4-7 9-1q5-7 10 0q5-6 9 1q6-5 7 3v14Z" fill="#4f8048" />;
  if (wall) return <rect x="2" y="13" width="44" height="17" fill={colours[0] ?? "#b9b4a8"} stroke="#4a545d" />;
  const colour = colours[0] ?? "#8a6a48";
  return (
    <g stroke={colour} stroke-width="2.500">
      {[6, 18, 30, 42].map((x) => (
        <path key={x} d={`M${x} 8V32`} />
      ))}
      <path d="M2 15H46M2 24H46" stroke-width="2" />
    </g>
  );
}

function Dots({ colours }: { colours: readonly string[] }) {
  const shown = colours.length > 0 ? colours : ["#9aa3ab"];
  return (
    <>
      {shown.slice(0, 3).map((colour, index) => (
        <circle key={index} cx={24 + (index - (Math.min(3, shown.length) - 1) / 2) * 13} cy="18" r="6" fill={colour} stroke="#4a545d" />
      ))}
    </>
  );
}
