/** Drawings of things in the street and of how roads are laid out, one for each. */
import type { ComponentChildren } from "preact";
import { Car, Land, Plant, Pole, Road, type Stripe } from "./shapes";
import { centreStripes } from "./stripes";

const EDGE = "#4a545d";
const DASHED = centreStripes("white_dashed");
const edged = (colour: string): Stripe[] => [9, 39].map((x) => ({ x, colour }));

export const SCENES: Readonly<Record<string, () => ComponentChildren>> = {
  green_netting: () => <Towers fill="#4f9a5c" />,
  cranes: () => <path d="M14 34V6M6 9H44M14 6L20 9M38 9V18" fill="none" stroke="#ef8a1d" stroke-width="3" />,
  red_lanterns: () => <Circles colour="#c62f2f" />,
  red_banners: () => <rect x="3" y="10" width="42" height="14" fill="#c62f2f" stroke={EDGE} />,
  vertical_signs: () => <rect x="18" y="2" width="12" height="32" fill="#ffffff" stroke="#c62f2f" stroke-width="2" />,
  scooter_rows: () => <Car colours={["#c62f2f"]} high={false} two />,
  parked_bicycles: () => <Car colours={["#2362b5"]} high={false} two />,
  stone_balustrade: () => <Rails colour="#b3aa98" />,
  median_fence: () => <Rails colour="#ffffff" />,
  open_drain: () => <Road stripes={edged("#c9c7c0")} surface="#5b636b" verge="#b9b4a8" />,
  pollarded_planes: () => <Plant kind="bare" />,
  recycling_containers: () => <Boxes colours={["#2f8f4e", "#f6c81e", "#2362b5"]} />,
  parasols: () => <path d="M4 18Q24 -8 44 18ZM24 6V34" fill="#2f8f4e" stroke={EDGE} stroke-width="2" />,
  market_stalls: () => <path d="M4 14L9 5H39L44 14ZM8 14V34M40 14V34M8 23H40" fill="#ef8a1d" stroke={EDGE} stroke-width="2" />,
  rubbish: () => <path d="M12 33Q8 18 20 15L18 9L24 12L30 9L28 15Q40 18 36 33Z" fill="#22262a" />,
  hand_painted_signs: () => <path d="M5 8L44 5V22L6 25ZM12 25V34M38 22V34M11 15H38" fill="#ffffff" stroke="#c62f2f" stroke-width="2" />,
  solar_lamps: () => <Pole colours={["#9aa3ab"]} lamp />,
  roller_shops: () => <path d="M4 6H44V34H4ZM8 16H22V34M26 16H40V34M8 20H22M8 24H22M8 28H22M26 20H40M26 24H40M26 28H40" fill="none" stroke={EDGE} stroke-width="1.500" />,
  town_square: () => <Plant kind="round" />,
  trees_in_rows: () => <Plant kind="round" />,
  embankment: () => <Land sky="#cfe3f2" ground="#b9b4a8" water />,
  railway_electric: () => <Pole colours={["#6f7c88"]} arms />,
  metro: () => <Car colours={["#9aa3ab", "#c62f2f"]} high two={false} />,
  stone_bollards: () => <Pole colours={["#4a545d"]} short />,
  side_lane: () => <Road stripes={[...DASHED, ...edged("#4f8048")]} verge="#5b636b" />,
  elevated_road: () => <path d="M0 10H48V17H0ZM10 17V36M38 17V36" fill="#b9b4a8" stroke={EDGE} stroke-width="3" />,
  grass_verge: () => <Road stripes={[...DASHED, ...edged("#d8d5cc")]} verge="#6bab4f" />,
  wide_shoulder: () => <Road stripes={[...DASHED, ...edged("#ffffff")]} verge="#7a828a" />,
  turn_lane_median: () => <Road stripes={centreStripes("yellow_double")} />,
  gravel_shoulder: () => <Road stripes={DASHED} verge="#a39c8f" />,
  sandy_verge: () => <Road stripes={DASHED} verge="#dfc48d" />,
  no_kerb: () => <Road verge="#a7a25f" />,
  kerbed_median: () => <Road median />,
  narrow_lane: () => <Road narrow verge="#4f8048" />,
};

function Towers({ fill }: { fill: string }) {
  return (
    <g fill={fill} stroke={EDGE}>
      <rect x="8" y="4" width="14" height="30" />
      <rect x="27" y="10" width="13" height="24" />
      <path d="M8 12H22M8 20H22M8 28H22M27 18H40M27 26H40" />
    </g>
  );
}

function Circles({ colour }: { colour: string }) {
  return (
    <g fill={colour} stroke={EDGE}>
      <circle cx="13" cy="19" r="7" />
      <circle cx="35" cy="19" r="7" />
      <path d="M13 4V12M35 4V12M13 26V32M35 26V32" />
    </g>
  );
}

function Rails({ colour }: { colour: string }) {
  return <path d="M2 12H46M2 26H46M6 12V32M14 12V26M22 12V26M30 12V26M38 12V26M44 12V32" fill="none" stroke={colour} stroke-width="3" />;
}

function Boxes({ colours }: { colours: readonly string[] }) {
  return (
    <>
      {colours.map((colour, index) => (
        <path key={colour} d={`M${4 + index * 14} 32V16Q${10 + index * 14} 8 ${16 + index * 14} 16V32Z`} fill={colour} stroke={EDGE} />
      ))}
    </>
  );
}

