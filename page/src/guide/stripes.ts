/** The lines on a road, by the names of the field guide's values. */
import { coloursOf, hasWord } from "./looks";
import type { Stripe } from "./shapes";

const SHORT = "4 4";
const LONG = "12 5";
const SQUARES = "2 4";
const WHITE = "#ffffff";
const YELLOW = "#f6c81e";
const MIDDLE = 24;
const SIDES: readonly number[] = [9, 39];

function dashOf(value: string): string | undefined {
  if (hasWord(value, "squares")) return SQUARES;
  if (!hasWord(value, "dashed", "dashes")) return undefined;
  return hasWord(value, "long") ? LONG : SHORT;
}

/** Lines side by side in the middle of the road, with so much between them. */
function beside(colours: readonly string[], gap: number, width: number, dashes: readonly (string | undefined)[] = []): Stripe[] {
  return colours.map((colour, at) => ({ x: MIDDLE + (at - (colours.length - 1) / 2) * gap, colour, width, dash: dashes[at] }));
}

const CENTRES: Readonly<Record<string, () => Stripe[]>> = {
  white_triple: () => beside([WHITE, WHITE, WHITE], 4.5, 1.8, [undefined, SHORT]),
  white_green: () => [{ x: MIDDLE, colour: "#2f8f4e", width: 5 }, ...beside([WHITE, WHITE], 7, 1.6)],
  yellow_double_wide: () => beside([YELLOW, YELLOW], 10, 2),
  yellow_double_thick: () => beside([YELLOW, YELLOW], 6.5, 4.2),
  yellow_double_black: () => [{ x: MIDDLE, colour: "#22262a", width: 4 }, ...beside([YELLOW, YELLOW], 6, 2)],
  yellow_and_white: () => beside([YELLOW, WHITE], 5, 2.2, [undefined, SHORT]),
  yellow_white_yellow: () => beside([YELLOW, WHITE, YELLOW], 4.5, 2, [undefined, SHORT]),
};

export function centreStripes(value: string): Stripe[] {
  if (value === "none") return [];
  const [colour = WHITE] = coloursOf(value);
  const own = CENTRES[value];
  if (own) return own();
  return hasWord(value, "double") ? beside([colour, colour], 4.5, 2) : [{ x: MIDDLE, colour, width: 2.5, dash: dashOf(value) }];
}

export function edgeStripes(value: string): Stripe[] {
  if (value === "none") return [];
  const [colour = WHITE] = coloursOf(value);
  const columns = hasWord(value, "double") ? SIDES.flatMap((x) => [x - 1.6, x + 1.6]) : SIDES;
  return columns.map((x) => ({ x, colour, width: hasWord(value, "squares") ? 2.6 : 2, dash: dashOf(value) }));
}

/** A broken line in the middle and solid ones at the edges. */
export function plainStripes(colour: string): Stripe[] {
  return [{ x: MIDDLE, colour, width: 2.5, dash: SHORT }, ...SIDES.map((x) => ({ x, colour }))];
}
