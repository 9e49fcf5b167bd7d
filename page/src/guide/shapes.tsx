/** The shapes that drawings are made of; 48 wide and 36 high. */
import { hasWord, type LandLook, type PlantKind } from "./looks";

const EDGE = "#4a545d";

/** A line along the road; `dash` is an SVG dash pattern, none where it is solid. */
export interface Stripe {
  x: number;
  colour: string;
  width?: number;
  dash?: string | undefined;
}

interface RoadLook {
  stripes?: readonly Stripe[];
  carAt?: number;
  surface?: string;
  verge?: string;
  median?: boolean;
  narrow?: boolean;
}

export function Road({ stripes = [], carAt, surface = "#5b636b", verge = "#8fae5c", median, narrow }: RoadLook) {
  return (
    <>
      <rect width="48" height="36" fill={verge} />
      <path d={narrow === true ? "M16 0H32V36H16Z" : "M6 0H42V36H6Z"} fill={surface} />
      {median === true ? <path d="M20 0H28V36H20Z" fill="#6bab4f" stroke="#d8d5cc" /> : null}
      {stripes.map(({ x, colour, width = 2, dash }) => (
        <path key={x} d={`M${x} 0V36`} stroke={colour} stroke-width={width} stroke-dasharray={dash} />
      ))}
      {carAt === undefined ? null : <rect x={carAt - 5} y="12" width="10" height="16" rx="3" fill="#c62f2f" stroke="#ffffff" />}
    </>
  );
}

export function Pole({ colours, arms, lamp, light, sign, short, none, holes }: { colours: readonly string[]; arms?: boolean; lamp?: boolean; light?: boolean; sign?: boolean; short?: boolean; none?: boolean; holes?: boolean }) {
  const top = short === true ? 12 : 2;
  const part = (34 - top) / Math.max(1, colours.length);
  return (
    <>
      {colours.map((colour, index) => (
        <rect key={index} x={short === true ? 19 : 22} y={top + index * part} width={short === true ? 10 : 4} height={part} fill={colour} stroke={EDGE} stroke-width="0.700" />
      ))}
      {holes === true ? <path d="M24 10V30" stroke="#ffffff" stroke-width="1.500" stroke-dasharray="2 3" /> : null}
      {arms === true ? <path d="M10 7H38M2 12Q24 18 46 12" fill="none" stroke={EDGE} stroke-width="1.500" /> : null}
      {lamp === true ? <path d="M24 4Q36 2 38 8" fill="none" stroke={colours[0] ?? EDGE} stroke-width="3" /> : null}
      {sign === true ? <circle cx="24" cy="10" r="8" fill="#ffffff" stroke="#c62f2f" stroke-width="3" /> : null}
      {light === true ? (
        <>
          <rect x="19" y="2" width="10" height="22" rx="3" fill="#22262a" />
          <circle cx="24" cy="6.500" r="2.500" fill="#c62f2f" />
          <circle cx="24" cy="13" r="2.500" fill="#f6c81e" />
          <circle cx="24" cy="19.500" r="2.500" fill="#2f8f4e" />
        </>
      ) : null}
      {none === true ? <path d="M8 4L40 32M40 4L8 32" stroke="#c62f2f" stroke-width="3" /> : null}
    </>
  );
}

export function Plate({ attribute, value, colours }: { attribute: string; value: string; colours: readonly string[] }) {
  const characters = attribute === "plate_characters";
  const ground = characters ? "#ffffff" : (colours[0] ?? "#ffffff");
  const square = hasWord(value, "boxy", "square", "small", "short");
  const width = square ? 26 : 42;
  const height = square ? 17 : 12;
  const left = (48 - width) / 2;
  const strip = characters ? undefined : colours[1];
  const ink = characters ? (colours[0] ?? "#22262a") : ground === "#ffffff" || ground === "#f6c81e" ? "#22262a" : "#ffffff";
  return (
    <>
      <rect x={left} y={18 - height / 2} width={width} height={height} rx="2" fill={ground} stroke={EDGE} />
      {strip === undefined ? null : <rect x={left} y={18 - height / 2} width="6" height={height} fill={strip} />}
      <path d={`M${left + 9} 18H${left + width - 4}`} stroke={ink} stroke-width="4" stroke-dasharray="3 2" />
      {hasWord(value, "only") ? <path d="M8 6L40 30" stroke="#c62f2f" stroke-width="3" /> : null}
    </>
  );
}

export function Sign({ attribute, value, first, second }: { attribute: string; value: string; first: string; second: string }) {
  if (attribute === "speed_limit_sign") {
    const plain = hasWord(value, "rectangle");
    return plain ? <rect x="14" y="3" width="20" height="28" rx="2" fill="#ffffff" stroke={EDGE} /> : <circle cx="24" cy="18" r="13" fill={hasWord(value, "yellow") ? "#f6c81e" : "#ffffff"} stroke="#c62f2f" stroke-width="4" />;
  }
  if (attribute === "chevron") {
    const [arrow, , ground] = value.split("_on_").length === 2 ? [first, "", second] : ["#22262a", "", first];
    return (
      <>
        <rect x="8" y="5" width="32" height="26" fill={ground} stroke={EDGE} />
        <path d="M18 9L28 18L18 27" fill="none" stroke={arrow} stroke-width="6" />
      </>
    );
  }
  if (attribute === "crossing_sign") {
    return (
      <>
        <rect x="9" y="3" width="30" height="30" rx="2" fill="#2362b5" />
        <path d="M24 7L36 29H12Z" fill={hasWord(value, "yellow") ? "#f6c81e" : "#ffffff"} />
        <path d="M24 14V21L20 27M24 21L28 27" stroke="#22262a" stroke-width="2" fill="none" />
      </>
    );
  }
  if (hasWord(value, "diamond")) return <path d="M24 3L40 18L24 33L8 18Z" fill={first} stroke="#22262a" stroke-width="2" />;
  if (hasWord(value, "pennant")) return <path d="M6 5V31L44 18Z" fill={first} stroke="#22262a" stroke-width="2" />;
  if (hasWord(value, "triangle")) return <path d="M24 4L43 32H5Z" fill={first} stroke={hasWord(value, "black") ? "#22262a" : "#c62f2f"} stroke-width="4" />;
  const ink = first === "#ffffff" || first === "#f6c81e" ? "#22262a" : "#ffffff";
  return (
    <>
      <rect x="4" y="9" width="40" height="18" rx="2" fill={first} stroke={EDGE} />
      <path d="M9 16H34M9 21H28" stroke={second !== "#ffffff" ? second : ink} stroke-width="2.500" />
    </>
  );
}

export function Car({ colours, high, two }: { colours: readonly string[]; high: boolean; two: boolean }) {
  const body = colours[0] ?? "#9aa3ab";
  const roof = colours[1] ?? body;
  if (two) {
    return (
      <>
        <circle cx="12" cy="27" r="6" fill="none" stroke={EDGE} stroke-width="3" />
        <circle cx="36" cy="27" r="6" fill="none" stroke={EDGE} stroke-width="3" />
        <path d="M12 27L20 15H30L36 27M30 15L34 9" fill="none" stroke={body} stroke-width="4" />
      </>
    );
  }
  return (
    <>
      <path d={high ? "M4 6H44V20H4Z" : "M13 18L18 8H32L38 18Z"} fill={roof} stroke={EDGE} />
      <path d="M3 18H45V28H3Z" fill={body} stroke={EDGE} />
      <circle cx="12" cy="29" r="4.500" fill="#22262a" />
      <circle cx="36" cy="29" r="4.500" fill="#22262a" />
    </>
  );
}

export function House({ attribute, value, colours }: { attribute: string; value: string; colours: readonly string[] }) {
  const highrise = hasWord(value, "towers", "apartments", "blocks", "superblocks");
  const flat = highrise || hasWord(value, "flat", "rebar", "shophouses", "tube");
  const material = hasWord(value, "brick") ? "#b4553c" : hasWord(value, "wood", "weatherboard", "clapboard", "log", "planks") ? "#a9764a" : hasWord(value, "stone", "limestone") ? "#b3aa98" : hasWord(value, "adobe") ? "#b98a5c" : "#efe6d2";
  const wall = attribute === "wall" ? (hasWord(value, "whitewashed") ? "#ffffff" : (colours.at(-1) ?? material)) : "#efe6d2";
  const tiles = hasWord(value, "clay") ? "#c8643c" : hasWord(value, "slate", "tiles") ? "#5b636b" : hasWord(value, "thatch") ? "#c9a54f" : hasWord(value, "metal", "corrugated") ? "#9fb0bb" : "#9a5a45";
  const roof = attribute === "roof" ? (hasWord(value, "clay", "thatch") ? tiles : (colours[0] ?? tiles)) : "#9a5a45";
  if (highrise) {
    const top = hasWord(value, "towers") ? 2 : 10;
    return (
      <g fill="#cfc6b4" stroke={EDGE} stroke-width="0.800">
        {[5, 19, 33].map((x) => (
          <g key={x}>
            <rect x={x} y={top} width="11" height={34 - top} />
            <path d={`M${x + 3} ${top + 3}V32M${x + 8} ${top + 3}V32`} stroke-dasharray="2 2" />
          </g>
        ))}
      </g>
    );
  }
  return (
    <>
      <rect x="10" y={flat ? 10 : 17} width="28" height={flat ? 23 : 16} fill={wall} stroke={EDGE} />
      {flat ? <rect x="8" y="7" width="32" height="4" fill={attribute === "roof" ? (colours[0] ?? "#b9b4a8") : "#b9b4a8"} stroke={EDGE} /> : <path d={hasWord(value, "steep") ? "M6 18L24 1L42 18Z" : "M6 18L24 6L42 18Z"} fill={roof} stroke={EDGE} />}
      <rect x="15" y="21" width="6" height="6" fill={attribute === "window" ? (colours[0] ?? "#8fb7d6") : "#8fb7d6"} stroke={EDGE} />
      <rect x="26" y="21" width="7" height="12" fill="#7a5a3c" stroke={EDGE} />
      {attribute === "water_tank" && value !== "none" ? <rect x="18" y="1" width="12" height="8" rx="2" fill={colours[0] ?? "#22262a"} stroke={EDGE} /> : null}
      {value === "satellite_dishes" ? <path d="M30 6A6 6 0 0 0 40 12M35 9L39 4" fill="none" stroke={EDGE} stroke-width="2" /> : null}
      {value === "aircon_boxes" ? <rect x="34" y="20" width="8" height="6" fill="#ffffff" stroke={EDGE} /> : null}
      {hasWord(value, "solar") ? <path d="M15 14L22 9L26 11L19 16Z" fill="#2362b5" stroke={EDGE} /> : null}
      {hasWord(value, "stilts") ? <path d="M12 33V36M24 33V36M36 33V36" stroke={EDGE} stroke-width="3" /> : null}
    </>
  );
}

export function Land({ sky, ground, hills, peaks, snow, water, plant }: LandLook) {
  return (
    <>
      <rect width="48" height="36" fill={sky} />
      {hills === undefined ? null : <path d={peaks === true ? "M0 26L12 8L21 20L33 5L48 26Z" : "M0 26Q12 10 24 22Q36 10 48 24V30H0Z"} fill={hills} />}
      {snow === true ? <path d="M33 5L28 13L33 11L38 13ZM12 8L8 14L12 12.500L16 14Z" fill="#ffffff" /> : null}
      <rect y="24" width="48" height="12" fill={ground} />
      {water === true ? <path d="M0 29Q12 26 24 29T48 29V36H0Z" fill="#4f8fc4" /> : null}
      {plant === undefined || plant === "none" ? null : <g transform="translate(6 4) scale(0.750)"><Plant kind={plant} /></g>}
    </>
  );
}

export function Plant({ kind }: { kind: PlantKind }) {
  switch (kind) {
    case "palm":
      return (
        <g fill="none" stroke-width="3">
          <path d="M24 34Q22 22 25 12" stroke="#8a5a33" />
          <path d="M25 12Q16 6 9 13M25 12Q18 2 12 4M25 12Q32 2 38 5M25 12Q34 6 40 14M25 12Q26 4 24 2" stroke="#3f8a45" />
        </g>
      );
    case "conifer":
      return <path d="M24 2L32 14H28L35 24H26V34H22V24H13L20 14H16Z" fill="#2f6b45" />;
    case "cactus":
      return <path d="M24 34V4M24 24Q14 24 14 12M24 20Q34 20 34 9" fill="none" stroke="#4f8a4c" stroke-width="5" stroke-linecap="round" />;
    case "bare":
      return <path d="M24 34V16M24 22L14 10M24 18L33 6M24 26L36 16M19 16L13 16M29 11L36 10" fill="none" stroke="#7a5a3c" stroke-width="2.500" />;
    case "flat":
      return (
        <>
          <path d="M24 34L24 18M24 22L14 12M24 22L34 12" stroke="#7a5a3c" stroke-width="2.500" fill="none" />
          <ellipse cx="24" cy="10" rx="20" ry="5" fill="#6f8f45" />
        </>
      );
    case "bamboo":
      return <path d="M14 34V6M22 34V3M30 34V5M37 34V9M14 12L8 8M22 10L16 6M30 12L37 7" fill="none" stroke="#6ba045" stroke-width="2.500" />;
    case "bush":
      return <path d="M8 34Q4 22 14 20Q18 12 26 16Q36 12 38 22Q44 26 40 34Z" fill="#8a9a4c" />;
    case "rows":
      return <path d="M2 34L14 12M14 34L20 12M26 34L27 12M38 34L33 12M46 34L39 12" stroke="#6b9a3f" stroke-width="3" />;
    case "none":
      return <path d="M2 30H46" stroke="#b8a873" stroke-width="4" />;
    case "round":
      return (
        <>
          <path d="M24 34V20" stroke="#7a5a3c" stroke-width="4" />
          <circle cx="24" cy="13" r="11" fill="#4f8a45" />
        </>
      );
  }
}
