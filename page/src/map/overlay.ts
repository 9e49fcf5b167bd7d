/** What we draw on the ground: radii of candidates, the country that is the finding, the search area, and a shape being drawn. */
import type { GeoJSONSource, Map as GlMap } from "maplibre-gl";
import { disc, type Spot } from "./geometry";
import type { Mark } from "./marks";

const FADE_MS = 450;
const NOTHING: GeoJSON.FeatureCollection = { type: "FeatureCollection", features: [] };

export class Overlay {
  private marks: readonly Mark[] = [];
  private area: GeoJSON.Geometry | null = null;
  private sketch: GeoJSON.FeatureCollection = NOTHING;
  private shapes: GeoJSON.FeatureCollection = NOTHING;
  /** How strongly each disc is drawn now, on its way to what it should be. */
  private readonly drawn = new Map<string, number>();
  private leaving: Mark[] = [];
  private frame = 0;
  private highlighted: string | null = null;

  constructor(private readonly map: GlMap) {}

  /** A new style forgets sources and layers: put ours back, below the labels. */
  attach(): void {
    const look = getComputedStyle(this.map.getContainer());
    const colour = (name: string): string => look.getPropertyValue(name).trim() || "#888";
    const labels = this.map.getStyle().layers.find((layer) => layer.type === "symbol")?.id;
    const strength = ["coalesce", ["feature-state", "strength"], 0] as const;
    const lit = ["boolean", ["feature-state", "lit"], false] as const;
    const tone = ["match", ["get", "kind"], "answer", colour("--answer"), "dropped", colour("--faint"), colour("--rival")] as const;
    this.map.addSource("our-area", { type: "geojson", data: this.areaData() });
    this.map.addSource("our-discs", { type: "geojson", data: this.discData(), promoteId: "id" });
    this.map.addSource("our-shapes", { type: "geojson", data: this.shapes });
    this.map.addSource("our-sketch", { type: "geojson", data: this.sketch });
    this.map.addLayer(
      { id: "our-area-fill", type: "fill", source: "our-area", paint: { "fill-color": colour("--accent"), "fill-opacity": 0.1 } },
      labels,
    );
    this.map.addLayer(
      {
        id: "our-area-line",
        type: "line",
        source: "our-area",
        paint: { "line-color": colour("--accent"), "line-width": 2, "line-dasharray": [3, 2] },
      },
      labels,
    );
    this.map.addLayer(
      {
        id: "our-discs-fill",
        type: "fill",
        source: "our-discs",
        paint: {
          "fill-color": tone as never,
          "fill-opacity": ["*", strength, ["case", lit, 0.42, 0.24]] as never,
        },
      },
      labels,
    );
    this.map.addLayer(
      {
        id: "our-discs-line",
        type: "line",
        source: "our-discs",
        paint: {
          "line-color": tone as never,
          "line-opacity": ["min", 1, ["*", strength, 1.6]] as never,
          "line-width": ["case", lit, 3, ["==", ["get", "kind"], "answer"], 2.2, 1.2] as never,
        },
      },
      labels,
    );
    const shade = ["match", ["get", "tone"], "sight", colour("--rival"), colour("--caution")] as const;
    this.map.addLayer(
      {
        id: "our-shapes-fill",
        type: "fill",
        source: "our-shapes",
        filter: ["==", ["geometry-type"], "Polygon"],
        paint: { "fill-color": shade as never, "fill-opacity": ["coalesce", ["get", "opacity"], 0.35] as never },
      },
      labels,
    );
    this.map.addLayer({
      id: "our-shapes-line",
      type: "line",
      source: "our-shapes",
      paint: { "line-color": shade as never, "line-width": ["match", ["get", "tone"], "sight", 1.5, "band", 0, 2] as never },
    });
    this.map.addLayer({
      id: "our-sketch-fill",
      type: "fill",
      source: "our-sketch",
      filter: ["==", ["geometry-type"], "Polygon"],
      paint: { "fill-color": colour("--accent"), "fill-opacity": 0.18 },
    });
    this.map.addLayer({
      id: "our-sketch-line",
      type: "line",
      source: "our-sketch",
      filter: ["!=", ["geometry-type"], "Point"],
      paint: { "line-color": colour("--accent"), "line-width": 2.5 },
    });
    this.map.addLayer({
      id: "our-sketch-corners",
      type: "circle",
      source: "our-sketch",
      filter: ["==", ["geometry-type"], "Point"],
      paint: {
        "circle-radius": ["case", ["get", "first"], 8, 5.5],
        "circle-color": colour("--card"),
        "circle-stroke-color": colour("--accent"),
        "circle-stroke-width": 2.5,
      },
    });
    for (const [id, value] of this.drawn) this.setState(id, value);
  }

  setMarks(marks: readonly Mark[]): void {
    const wanted = new Set(marks.map((mark) => mark.id));
    this.leaving = [...this.leaving, ...this.marks].filter((mark) => !wanted.has(mark.id) && (this.drawn.get(mark.id) ?? 0) > 0.01);
    this.marks = marks;
    this.put("our-discs", this.discData());
    this.fade();
  }

  setShapes(shapes: readonly GeoJSON.Feature[]): void {
    this.shapes = { type: "FeatureCollection", features: [...shapes] };
    this.put("our-shapes", this.shapes);
  }

  setArea(area: GeoJSON.Geometry | null): void {
    this.area = area;
    this.put("our-area", this.areaData());
  }

  setHighlighted(id: string | null): void {
    const before = this.highlighted;
    this.highlighted = id;
    for (const one of [before, id]) {
      const strength = one === null ? undefined : this.drawn.get(one);
      if (one !== null && strength !== undefined) this.setState(one, strength);
    }
  }

  /** Corners so far, the shape they would make, or a box being dragged. */
  setSketch(corners: readonly Spot[], shape: GeoJSON.Polygon | null): void {
    const features: GeoJSON.Feature[] = corners.map(({ lat, lon }, index) => ({
      type: "Feature",
      properties: { first: index === 0 && corners.length > 2 },
      geometry: { type: "Point", coordinates: [lon, lat] },
    }));
    if (corners.length > 1) {
      const line = corners.map(({ lat, lon }) => [lon, lat]);
      features.push({ type: "Feature", properties: {}, geometry: { type: "LineString", coordinates: line } });
    }
    if (shape) features.push({ type: "Feature", properties: {}, geometry: shape });
    this.sketch = { type: "FeatureCollection", features };
    this.put("our-sketch", this.sketch);
  }

  stop(): void {
    cancelAnimationFrame(this.frame);
  }

  private fade(): void {
    cancelAnimationFrame(this.frame);
    const targets = new Map<string, number>(this.marks.map((mark) => [mark.id, mark.kind === "answer" ? Math.max(0.6, mark.strength) : mark.strength]));
    for (const mark of this.leaving) targets.set(mark.id, 0);
    const starts = new Map([...targets.keys()].map((id) => [id, this.drawn.get(id) ?? 0]));
    const begun = performance.now();
    const length = matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : FADE_MS;
    const step = (now: number): void => {
      const share = length === 0 ? 1 : Math.min(1, (now - begun) / length);
      const eased = 1 - (1 - share) ** 3;
      for (const [id, target] of targets) {
        const from = starts.get(id) ?? 0;
        const value = from + (target - from) * eased;
        this.drawn.set(id, value);
        this.setState(id, value);
      }
      if (share < 1) {
        this.frame = requestAnimationFrame(step);
      } else if (this.leaving.length > 0) {
        for (const mark of this.leaving) this.drawn.delete(mark.id);
        this.leaving = [];
        this.put("our-discs", this.discData());
      }
    };
    step(begun + (length === 0 ? 0 : 1));
  }

  private setState(id: string, strength: number): void {
    if (!this.map.getSource("our-discs")) return;
    this.map.setFeatureState({ source: "our-discs", id }, { strength, lit: id === this.highlighted });
  }

  private put(source: string, data: GeoJSON.GeoJSON): void {
    void this.map.getSource<GeoJSONSource>(source)?.setData(data);
  }

  private areaData(): GeoJSON.GeoJSON {
    return this.area ? { type: "Feature", properties: {}, geometry: this.area } : NOTHING;
  }

  private discData(): GeoJSON.FeatureCollection {
    const discs = [...this.leaving, ...this.marks].filter((mark) => mark.radiusKm > 0 || mark.outline);
    return {
      type: "FeatureCollection",
      features: discs.map((mark) => ({
        type: "Feature",
        properties: { id: mark.id, kind: mark.kind },
        geometry: mark.outline ?? disc(mark, mark.radiusKm),
      })),
    };
  }
}
