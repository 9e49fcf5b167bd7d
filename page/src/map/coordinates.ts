/** A point in the ways that people write it, and the addresses of other maps there. */

const A = 6378137;
const F = 1 / 298.257223563;
const E2 = F * (2 - F);
const K0 = 0.9996;
const BANDS = "CDEFGHJKLMNPQRSTUVWX";
const COLUMNS = ["ABCDEFGH", "JKLMNPQR", "STUVWXYZ"] as const;
const ROWS = "ABCDEFGHJKLMNPQRSTUV";
const PLUS = "23456789CFGHJMPQRVWX";

function rad(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

/** Degrees, minutes and seconds: 43°44′18.2″N 7°25′28.6″E. */
export function dms(lat: number, lon: number, decimals = 1): string {
  const one = (value: number, marks: string): string => {
    const step = 10 ** decimals;
    const whole = Math.round(Math.abs(value) * 3600 * step);
    const seconds = (whole % (60 * step)) / step;
    const minutes = Math.floor(whole / (60 * step)) % 60;
    const degrees = Math.floor(whole / (3600 * step));
    return `${degrees}°${String(minutes).padStart(2, "0")}′${seconds.toFixed(decimals).padStart(decimals > 0 ? 3 + decimals : 2, "0")}″${marks[value < 0 ? 1 : 0] ?? ""}`;
  };
  return `${one(lat, "NS")} ${one(lon, "EW")}`;
}

/** The zone of a meridian, with the exceptions of Norway and Svalbard. */
function zoneOf(lat: number, lon: number): number {
  if (lat >= 56 && lat < 64 && lon >= 3 && lon < 12) return 32;
  if (lat >= 72 && lat < 84 && lon >= 0 && lon < 42) return lon < 9 ? 31 : lon < 21 ? 33 : lon < 33 ? 35 : 37;
  return Math.min(60, Math.floor((lon + 180) / 6) + 1);
}

/** The military grid: 32TLP 75893 44113. Empty near the poles, which have a grid of their own. */
export function mgrs(lat: number, lon: number, digits = 5): string {
  if (lat < -80 || lat > 84) return "";
  const zone = zoneOf(lat, lon);
  const phi = rad(lat);
  const e = E2 / (1 - E2);
  const n = A / Math.sqrt(1 - E2 * Math.sin(phi) ** 2);
  const t = Math.tan(phi) ** 2;
  const c = e * Math.cos(phi) ** 2;
  const a = Math.cos(phi) * rad(lon - (zone * 6 - 183));
  const m =
    A *
    ((1 - E2 / 4 - (3 * E2 ** 2) / 64 - (5 * E2 ** 3) / 256) * phi -
      ((3 * E2) / 8 + (3 * E2 ** 2) / 32 + (45 * E2 ** 3) / 1024) * Math.sin(2 * phi) +
      ((15 * E2 ** 2) / 256 + (45 * E2 ** 3) / 1024) * Math.sin(4 * phi) -
      ((35 * E2 ** 3) / 3072) * Math.sin(6 * phi));
  const east = K0 * n * (a + ((1 - t + c) * a ** 3) / 6 + ((5 - 18 * t + t ** 2 + 72 * c - 58 * e) * a ** 5) / 120) + 500000;
  const north =
    K0 * (m + n * Math.tan(phi) * (a ** 2 / 2 + ((5 - t + 9 * c + 4 * c ** 2) * a ** 4) / 24 + ((61 - 58 * t + t ** 2 + 600 * c - 330 * e) * a ** 6) / 720)) +
    (lat < 0 ? 10000000 : 0);
  const band = BANDS[Math.min(19, Math.floor((lat + 80) / 8))] ?? "";
  const column = COLUMNS[(zone - 1) % 3]?.[Math.floor(east / 100000) - 1] ?? "";
  const row = ROWS[(Math.floor(north / 100000) + (zone % 2 === 0 ? 5 : 0)) % 20] ?? "";
  const part = (metres: number): string => String(Math.floor((metres % 100000) / 10 ** (5 - digits))).padStart(digits, "0");
  return digits === 0 ? `${zone}${band}${column}${row}` : `${zone}${band}${column}${row} ${part(east)} ${part(north)}`;
}

/** An Open Location Code of 6, 8 or 10 digits: 8FM9PCQF+9R. */
export function plusCode(lat: number, lon: number, digits = 10): string {
  // Whole numbers of the finest cell, so that no rounding moves a point into the next.
  const cells = 8000;
  let y = Math.min(180 * cells - 1, Math.max(0, Math.floor(Math.round((lat + 90) * cells * 1e6) / 1e6)));
  let x = Math.floor(Math.round(((((lon + 180) % 360) + 360) % 360) * cells * 1e6) / 1e6);
  let code = "";
  for (let pair = 0; pair < 5; pair += 1) {
    code = (PLUS[y % 20] ?? "") + (PLUS[x % 20] ?? "") + code;
    y = Math.floor(y / 20);
    x = Math.floor(x / 20);
  }
  const kept = code.slice(0, digits).padEnd(8, "0");
  return `${kept.slice(0, 8)}+${kept.slice(8)}`;
}

/** All ways, with no more digits than the radius deserves. */
export function written(lat: number, lon: number, radiusKm: number | null): { name: "decimal" | "dms" | "mgrs" | "plus"; text: string }[] {
  const km = radiusKm ?? 0;
  const size = km < 0.1 ? 0 : km < 1 ? 1 : km < 10 ? 2 : km < 100 ? 3 : 4;
  return [
    { name: "decimal" as const, text: `${lat.toFixed(5 - size)}, ${lon.toFixed(5 - size)}` },
    { name: "dms" as const, text: dms(lat, lon, size === 0 ? 1 : 0) },
    { name: "mgrs" as const, text: mgrs(lat, lon, 5 - size) },
    { name: "plus" as const, text: plusCode(lat, lon, size < 2 ? 10 : size < 4 ? 8 : 6) },
  ].filter((one) => one.text !== "");
}

/** Other maps at a point; nothing is asked of them before somebody clicks. */
export function links(lat: number, lon: number, radiusKm: number | null): { name: string; href: string }[] {
  const zoom = Math.max(2, Math.min(17, Math.round(Math.log2(40000 / (Math.max(0.05, radiusKm ?? 0.2) * 6)))));
  const at = `${lat.toFixed(6)},${lon.toFixed(6)}`;
  const turned = `${lon.toFixed(6)},${lat.toFixed(6)}`;
  const y = lat.toFixed(6);
  const x = lon.toFixed(6);
  return [
    { name: "OpenStreetMap", href: `https://www.openstreetmap.org/?mlat=${y}&mlon=${x}#map=${zoom}/${y}/${x}` },
    { name: "Google Maps", href: `https://www.google.com/maps/search/?api=1&query=${at}` },
    { name: "Google Street View", href: `https://www.google.com/maps/@?api=1&map_action=pano&viewpoint=${at}` },
    { name: "Yandex Maps", href: `https://yandex.com/maps/?ll=${turned}&z=${zoom}&pt=${turned}` },
    { name: "Baidu Maps", href: `https://api.map.baidu.com/marker?location=${at}&title=${at}&content=${at}&output=html&coord_type=wgs84` },
    { name: "Bing Maps", href: `https://www.bing.com/maps?cp=${y}~${x}&lvl=${zoom}&sp=point.${y}_${x}_${y}%2C${x}` },
    { name: "Apple Maps", href: `https://maps.apple.com/?ll=${at}&q=${at}&z=${zoom}` },
    { name: "Copernicus Browser", href: `https://browser.dataspace.copernicus.eu/?zoom=${zoom}&lat=${y}&lng=${x}` },
  ];
}
