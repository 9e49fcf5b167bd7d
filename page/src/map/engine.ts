/** The map itself. This module brings MapLibre with it, so the page loads it after everything else. */
import "maplibre-gl/dist/maplibre-gl.css";
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?url";
import { AttributionControl, Map as GlMap, ScaleControl, setWorkerUrl, type StyleSpecification } from "maplibre-gl";
import { t } from "../strings";
import { Drawing, type DrawingHooks } from "./drawing";
import { around, type Bounds, type Spot, spotsOf, turned } from "./geometry";
import type { Mark } from "./marks";
import { Overlay } from "./overlay";
import { Pins } from "./pins";

setWorkerUrl(new URL(workerUrl, location.href).href);
export type MapMode = "look" | "draw" | "pin";
export type Theme = "light" | "dark";

export interface EngineHooks extends DrawingHooks {
  highlight(id: string | null): void;
  pinned(spot: Spot): void;
  /** Whether some of the map could not be fetched; what is there stays. */
  patchy(some: boolean): void;
  /** There is a map to see, not an empty ground. */
  drawnFirst(): void;
}

const START: Bounds = { south: -56, west: -170, north: 74, east: 180 };
const CLOSEST_ZOOM = 15;
const NARROW_PX = 640;
const BUTTONS_PX = 76;

/** How far from a map's edges its pins stay; the buttons on its right lie over it. */
function clearOf(width: number, height: number): { top: number; bottom: number; left: number; right: number } {
  const edge = Math.round(Math.min(64, width * 0.12, height * 0.16));
  return { top: edge, bottom: edge, left: edge, right: width < 4 * BUTTONS_PX ? edge : Math.max(edge, BUTTONS_PX) };
}

export class Engine {
  private readonly map: GlMap;
  private readonly overlay: Overlay;
  private readonly pins: Pins;
  private readonly drawing: Drawing;
  private marks: readonly Mark[] = [];
  private area: GeoJSON.Geometry | null = null;
  private pin: Spot | null = null;
  private highlighted: string | null = null;
  private mode: MapMode = "look";
  private movedByHand = false;
  private fitted = "";
  private followed = false;
  private styled = false;
  private asked = "";
  private missed = false;
  /** A map in a tab that is not shown has no size yet: what it should show once it has one. */
  private waiting: "answer" | "places" | "all" | null = null;

  constructor(container: HTMLElement, label: string, private readonly hooks: EngineHooks) {
    this.map = new GlMap({
      container,
      style: emptyStyle(container),
      bounds: boxOf(START),
      attributionControl: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      maxPitch: 0,
      // One finger scrolls the page past the map; two move the map.
      cooperativeGestures: false,
      transformRequest: (url) => ({ url: new URL(url, location.href).href }),
      locale: {
        "Map.Title": label,
        "AttributionControl.ToggleAttribution": t("map.sources"),
        "CooperativeGesturesHandler.MobileHelpText": t("map.twoFingers"),
      },
    });
    this.map.touchZoomRotate.disableRotation();
    this.map.keyboard.disableRotation();
    this.map.addControl(new AttributionControl({ compact: true }), "bottom-right");
    this.map.addControl(new ScaleControl({ maxWidth: 90 }), "top-left");
    this.overlay = new Overlay(this.map);
    this.pins = new Pins(this.map, (id) => hooks.highlight(id), (id) => this.chosen(id));
    this.drawing = new Drawing(this.map, this.overlay, hooks);
    this.map.on("style.load", () => this.overlay.attach());
    this.map.on("movestart", (event) => {
      if (event.originalEvent) this.movedByHand = true;
    });
    this.map.on("error", () => (this.missed = true));
    this.map.on("idle", () => {
      container.dataset["settled"] = "yes";
      hooks.patchy(this.missed);
      if (this.styled) hooks.drawnFirst();
      this.missed = false;
    });
    this.map.on("resize", () => {
      if (this.waiting && container.clientWidth > 0) this.fit(this.waiting);
    });
    this.map.on("dataloading", () => delete container.dataset["settled"]);
    this.map.on("click", (event) => {
      if (this.mode === "pin") this.setPin({ lat: event.lngLat.lat, lon: turned(event.lngLat.lng) });
    });
    if (container.clientWidth <= NARROW_PX) foldSources(this.map);
    this.map.getCanvas().addEventListener("keydown", (event) => this.key(event));
    this.shareTouch();
  }

  /** Fetch the style ourselves: where it fails, candidates still stand on an empty map. */
  async setStyle(theme: Theme, online: string | null): Promise<void> {
    const asked = `${theme} ${online}`;
    this.asked = asked;
    let style: StyleSpecification;
    try {
      const response = await fetch(`/tiles/style/${theme}.json`);
      if (!response.ok) throw new Error(String(response.status));
      style = (await response.json()) as StyleSpecification;
    } catch {
      style = emptyStyle(this.map.getContainer());
      this.missed = true;
    }
    if (this.asked !== asked) return;
    this.styled = true;
    this.map.setStyle(online === null ? style : withOnline(style, online), { diff: false });
  }

  setMarks(marks: readonly Mark[]): void {
    this.marks = marks;
    this.overlay.setMarks(marks);
    this.pins.show(this.withPin(), this.highlighted);
    this.fitIfNew();
  }

  setArea(area: GeoJSON.Geometry | null): void {
    this.area = area;
    this.overlay.setArea(area);
    this.fitIfNew();
  }

  /** Areas and lines that are no candidates; new ones are brought into view. */
  setShapes(shapes: readonly GeoJSON.Feature[]): void {
    this.overlay.setShapes(shapes);
    const spots = shapes.flatMap((shape) => spotsOf(shape.geometry));
    const bounds = around(spots);
    const { clientWidth, clientHeight } = this.map.getContainer();
    if (!bounds || clientWidth === 0) return;
    this.movedByHand = true;
    this.map.fitBounds(boxOf(bounds), { padding: clearOf(clientWidth, clientHeight), maxZoom: 16, duration: 700 });
  }

  setHighlighted(id: string | null): void {
    this.highlighted = id;
    this.pins.highlight(id);
    this.overlay.setHighlighted(id);
  }

  setMode(mode: MapMode): void {
    if (mode === this.mode) return;
    this.mode = mode;
    this.map.getContainer().dataset["mode"] = mode;
    if (mode === "draw") this.drawing.start();
    else this.drawing.stop();
    if (mode !== "look") {
      this.pin = null;
      this.pins.show(this.withPin(), this.highlighted);
    }
    this.shareTouch();
  }

  /** The answer and what lies within its radius, it and the other places of a video, or everything that is still open. */
  fit(what: "answer" | "places" | "all"): void {
    const { clientWidth, clientHeight } = this.map.getContainer();
    this.waiting = clientWidth > 0 ? null : what;
    if (this.waiting) return;
    const answer = this.marks.filter((mark) => mark.kind === "answer" || (what === "places" && mark.kind === "place"));
    const open = this.marks.filter((mark) => mark.kind !== "dropped");
    const shown = what !== "all" && answer.length > 0 ? answer : open.length > 0 ? open : this.marks;
    const places = shown.flatMap((mark) => (mark.outline ? spotsOf(mark.outline) : [mark]));
    // An area that was drawn stays in view unless the finding is shown alone: the reason may be that nothing lies in it.
    const drawn = this.area && (what === "all" || answer.length === 0) ? spotsOf(this.area) : [];
    const bounds = around([...places, ...drawn]) ?? START;
    this.movedByHand = false;
    const padding = clearOf(clientWidth, clientHeight);
    const maxZoom = shown.some((mark) => mark.radiusKm > 0 && mark.radiusKm < 1) ? CLOSEST_ZOOM : 11;
    this.map.fitBounds(boxOf(bounds), { padding, maxZoom, duration: 700 });
  }

  zoom(by: number): void {
    this.movedByHand = true;
    this.map.easeTo({ zoom: this.map.getZoom() + by, duration: 200 });
  }

  centre(): Spot {
    const { lat, lng } = this.map.getCenter();
    return { lat, lon: turned(lng) };
  }

  view(): Bounds {
    const bounds = this.map.getBounds();
    return { south: bounds.getSouth(), west: bounds.getWest(), north: bounds.getNorth(), east: bounds.getEast() };
  }

  setPin(spot: Spot): void {
    this.pin = spot;
    this.pins.show(this.withPin(), this.highlighted);
    this.hooks.pinned(spot);
  }

  dropPin(): void {
    this.pin = null;
    this.pins.show(this.withPin(), this.highlighted);
  }

  finishDrawing(): void {
    this.drawing.finish();
  }

  undoCorner(): void {
    this.drawing.undo();
  }

  destroy(): void {
    this.overlay.stop();
    this.pins.clear();
    this.map.remove();
  }

  // While marks come and go the map follows them, until someone takes it into their own hands.
  private fitIfNew(): void {
    const answer = this.marks.find((mark) => mark.kind === "answer");
    const open = this.marks.filter((mark) => mark.kind === "answer" || mark.kind === "rival");
    const places = this.marks.filter((mark) => mark.kind === "place");
    const key = answer
      ? `${places.map((mark) => `${mark.lat} ${mark.lon}`).join()} answer ${answer.lat} ${answer.lon} ${answer.radiusKm}`
      : open.map((mark) => `${mark.id} ${mark.lat} ${mark.lon}`).sort().join();
    const areaOnly = !answer && this.area ? JSON.stringify(this.area) : "";
    if (key + areaOnly === this.fitted || key + areaOnly === "") return;
    this.fitted = key + areaOnly;
    // Whoever opens the map to draw wants to draw around the candidates.
    const first = !this.followed && open.length > 0;
    this.followed ||= open.length > 0;
    if (!this.movedByHand && (this.mode === "look" || first)) this.fit(answer ? (places.length > 0 ? "places" : "answer") : "all");
  }

  private chosen(id: string): void {
    const mark = this.marks.find((one) => one.id === id);
    if (mark && this.mode === "pin") this.setPin({ lat: mark.lat, lon: mark.lon });
    else if (mark) this.map.easeTo({ center: [mark.lon, mark.lat], zoom: Math.max(this.map.getZoom(), 8), duration: 500 });
  }

  private key(event: KeyboardEvent): void {
    const place = event.key === "Enter" || event.key === " ";
    if (this.mode !== "look" && place) {
      event.preventDefault();
      const { lat, lng } = this.map.getCenter();
      if (this.mode === "pin") this.setPin(this.centre());
      else this.drawing.corner({ lat, lon: lng });
    } else if (this.mode === "draw" && event.key === "Backspace") {
      event.preventDefault();
      this.drawing.undo();
    } else if (this.mode === "draw" && event.key === "Escape") {
      this.drawing.clear();
    }
  }

  private withPin(): readonly Mark[] {
    if (!this.pin) return this.marks;
    const words = t("map.pinned");
    return [...this.marks, { ...this.pin, id: "pinned", kind: "pinned", letter: "?", name: words, words, radiusKm: 0, strength: 1 }];
  }

  private shareTouch(): void {
    if (this.mode === "look" && matchMedia("(pointer: coarse)").matches) this.map.cooperativeGestures.enable();
    else this.map.cooperativeGestures.disable();
  }
}

/** MapLibre unfolds its sources as soon as it knows any; on a narrow map they would cover it. */
function foldSources(map: GlMap): void {
  const watching = map.on("sourcedata", () => {
    const sources = map.getContainer().querySelector(".maplibregl-ctrl-attrib.maplibregl-compact-show");
    if (!sources) return;
    sources.classList.remove("maplibregl-compact-show");
    watching.unsubscribe();
  });
}

function boxOf(bounds: Bounds): [number, number, number, number] {
  return [bounds.west, bounds.south, bounds.east, bounds.north];
}

/** A picture map that the user has allowed lies over the atlas's ground; it brings labels of its own. */
function withOnline(style: StyleSpecification, template: string): StyleSpecification {
  const ground = style.layers.filter((layer) => layer.type !== "symbol");
  return {
    ...style,
    sources: { ...style.sources, online: { type: "raster", tiles: [template], tileSize: 256, attribution: new URL(template).hostname } },
    layers: [...ground, { id: "online", type: "raster", source: "online" }],
  };
}

function emptyStyle(container: HTMLElement): StyleSpecification {
  const ground = getComputedStyle(container).getPropertyValue("--tint").trim() || "#eee";
  return { version: 8, sources: {}, layers: [{ id: "ground", type: "background", paint: { "background-color": ground } }] };
}
