/** Shapes on the globe, without a map: longitudes run on past 180 where a shape crosses the date line. */

export interface Spot {
  lat: number;
  lon: number;
}

export interface Bounds {
  south: number;
  west: number;
  north: number;
  /** Never less than `west`: 190 is 170 degrees west. */
  east: number;
}

const EARTH_KM = 6371.0088;
const DEGREE = Math.PI / 180;
const FARTHEST_LAT = 85.05;

/** Into [-180, 180). */
export function turned(lon: number): number {
  return ((((lon + 180) % 360) + 360) % 360) - 180;
}

/** What lies within so many kilometres of a place. */
export function disc(centre: Spot, radiusKm: number, corners = 72): GeoJSON.Polygon {
  const angle = Math.min(radiusKm / EARTH_KM, Math.PI * 0.999);
  const lat = centre.lat * DEGREE;
  const ring: GeoJSON.Position[] = [];
  let before = centre.lon;
  for (let step = 0; step <= corners; step += 1) {
    const course = (step / corners) * 2 * Math.PI;
    const sine = Math.sin(lat) * Math.cos(angle) + Math.cos(lat) * Math.sin(angle) * Math.cos(course);
    const east = Math.atan2(
      Math.sin(course) * Math.sin(angle) * Math.cos(lat),
      Math.cos(angle) - Math.sin(lat) * sine,
    );
    const lon = before + turned(centre.lon + east / DEGREE - before);
    before = lon;
    ring.push([lon, Math.asin(Math.max(-1, Math.min(1, sine))) / DEGREE]);
  }
  return { type: "Polygon", coordinates: [closedOverPole(ring, centre.lat)] };
}

// A ring that runs once around the Earth holds a pole: it is closed along it.
function closedOverPole(ring: GeoJSON.Position[], lat: number): GeoJSON.Position[] {
  const first = ring[0] as GeoJSON.Position;
  const last = ring[ring.length - 1] as GeoJSON.Position;
  if (Math.abs((last[0] as number) - (first[0] as number)) < 180) return [...ring.slice(0, -1), first];
  const pole = lat >= 0 ? 90 : -90;
  return [...ring, [last[0] as number, pole], [first[0] as number, pole], first];
}

/** The middle of the largest part of an area, weighed by its land. */
export function middleOf(area: GeoJSON.Polygon | GeoJSON.MultiPolygon): Spot {
  const outer = area.type === "Polygon" ? [area.coordinates[0] ?? []] : area.coordinates.map((part) => part[0] ?? []);
  let most = 0;
  let middle: Spot = { lat: 0, lon: 0 };
  for (const ring of outer) {
    const [lon0 = 0, lat0 = 0] = ring[0] ?? [];
    let size = 0;
    let east = 0;
    let north = 0;
    ring.forEach(([lon = 0, lat = 0], index) => {
      const [nextLon = 0, nextLat = 0] = ring[(index + 1) % ring.length] ?? [];
      const [x, y, u, v] = [lon - lon0, lat - lat0, nextLon - lon0, nextLat - lat0];
      const twice = x * v - u * y;
      size += twice;
      east += (x + u) * twice;
      north += (y + v) * twice;
    });
    if (Math.abs(size) <= most) continue;
    most = Math.abs(size);
    middle = { lat: lat0 + north / (3 * size), lon: lon0 + east / (3 * size) };
  }
  return middle;
}

/** The narrowest box around places and what lies within their radius. */
export function around(places: readonly (Spot & { radiusKm: number })[]): Bounds | null {
  if (places.length === 0) return null;
  const spans: [number, number][] = [];
  let south = 90;
  let north = -90;
  for (const place of places) {
    const high = place.radiusKm / EARTH_KM / DEGREE;
    const wide = Math.min(180, high / Math.max(0.05, Math.cos(place.lat * DEGREE)));
    south = Math.min(south, place.lat - high);
    north = Math.max(north, place.lat + high);
    const west = turned(place.lon - wide);
    spans.push([west, west + 2 * wide]);
  }
  const [west, east] = narrowest(spans);
  return { south: Math.max(-FARTHEST_LAT, south), west, north: Math.min(FARTHEST_LAT, north), east };
}

// Leaves out the widest gap between spans of longitudes.
function narrowest(spans: [number, number][]): [number, number] {
  const sorted = [...spans].sort((one, other) => one[0] - other[0]);
  const first = sorted[0] as [number, number];
  let reach = first[1];
  let best: { gap: number; from: number } = { gap: -1, from: first[0] };
  for (const [west, east] of sorted.slice(1)) {
    if (west - reach > best.gap) best = { gap: west - reach, from: west };
    reach = Math.max(reach, east);
  }
  const behind = first[0] + 360 - reach;
  if (behind <= 0 && best.gap <= 0) return [-180, 180];
  if (behind >= best.gap) return [first[0], Math.min(reach, first[0] + 360)];
  let end = best.from;
  for (const [west, east] of sorted) end = Math.max(end, west >= best.from ? east : east + 360);
  return [best.from, Math.min(end, best.from + 360)];
}

/** A box as a polygon, with corners close enough that no edge could be meant the other way round. */
export function rectangle(bounds: Bounds): GeoJSON.Polygon {
  const width = Math.min(360, bounds.east - bounds.west);
  const west = width >= 360 ? -180 : turned(bounds.west);
  const south = Math.max(-90, bounds.south);
  const north = Math.min(90, bounds.north);
  const steps = Math.max(1, Math.ceil(width / 90));
  const lons = Array.from({ length: steps + 1 }, (_, step) => west + (width * step) / steps);
  const ring = [...lons.map((lon) => [lon, south]), ...lons.reverse().map((lon) => [lon, north])];
  return { type: "Polygon", coordinates: [[...ring, [west, south]].map(rounded)] };
}

/** Corners one after the other as a polygon; null where there are too few or its edges cross. */
export function polygon(corners: readonly Spot[]): GeoJSON.Polygon | null {
  const first = corners[0];
  if (corners.length < 3 || first === undefined || crosses(corners)) return null;
  const shift = turned(first.lon) - first.lon;
  const ring = corners.map(({ lat, lon }) => rounded([lon + shift, lat]));
  return { type: "Polygon", coordinates: [[...ring, ring[0] as GeoJSON.Position]] };
}

/** Whether two edges of a closed ring cross. */
export function crosses(corners: readonly Spot[]): boolean {
  const at = (index: number): Spot => corners[index % corners.length] as Spot;
  for (let one = 0; one < corners.length; one += 1) {
    for (let other = one + 2; other < corners.length; other += 1) {
      if (one === 0 && other === corners.length - 1) continue;
      if (cut(at(one), at(one + 1), at(other), at(other + 1))) return true;
    }
  }
  return false;
}

function cut(a: Spot, b: Spot, c: Spot, d: Spot): boolean {
  const side = (p: Spot, q: Spot, r: Spot): number =>
    Math.sign((q.lon - p.lon) * (r.lat - p.lat) - (q.lat - p.lat) * (r.lon - p.lon));
  return side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0;
}

// A ten-thousandth of a degree is eleven metres: nobody draws finer than a millionth.
function rounded(position: number[]): GeoJSON.Position {
  return position.map((value) => Math.round(value * 1e6) / 1e6);
}

/** Every place of a geometry. */
export function spotsOf(geometry: GeoJSON.Geometry): (Spot & { radiusKm: number })[] {
  if (geometry.type === "GeometryCollection") return geometry.geometries.flatMap(spotsOf);
  const flat = (value: unknown): number[][] =>
    Array.isArray(value) && typeof value[0] === "number" ? [value as number[]] : (value as unknown[]).flatMap(flat);
  return flat(geometry.coordinates).map(([lon, lat]) => ({ lat: lat ?? 0, lon: lon ?? 0, radiusKm: 0 }));
}
