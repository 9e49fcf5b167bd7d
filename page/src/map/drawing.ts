/** Drawing an area: drag a box, or set corner after corner by mouse, finger or keyboard. */
import type { Map as GlMap, MapMouseEvent, MapTouchEvent } from "maplibre-gl";
import { polygon, rectangle, type Spot } from "./geometry";
import type { Overlay } from "./overlay";

const TAP_PX = 8;
const CLOSE_PX = 16;
const DOUBLE_MS = 450;

export interface DrawingHooks {
  /** How many corners there are, and whether they would make an area. */
  changed(corners: number, closable: boolean): void;
  crossed(): void;
  drawn(shape: GeoJSON.Polygon): void;
}

type Press = MapMouseEvent | MapTouchEvent;

export class Drawing {
  private corners: Spot[] = [];
  private from: { point: { x: number; y: number }; spot: Spot } | null = null;
  private on = false;
  private tapped = 0;
  private readonly unbind: (() => void)[] = [];

  constructor(
    private readonly map: GlMap,
    private readonly overlay: Overlay,
    private readonly hooks: DrawingHooks,
  ) {}

  start(): void {
    if (this.on) return;
    this.on = true;
    this.map.doubleClickZoom.disable();
    this.map.boxZoom.disable();
    const bound = [
      this.map.on("mousedown", (event) => this.press(event)),
      this.map.on("mousemove", (event) => this.drag(event)),
      this.map.on("mouseup", (event) => this.release(event)),
      this.map.on("touchstart", (event) => this.press(event)),
      this.map.on("touchmove", (event) => this.drag(event)),
      this.map.on("touchend", (event) => this.release(event)),
      this.map.on("touchcancel", () => this.abandon()),
    ];
    this.unbind.push(...bound.map((one) => () => one.unsubscribe()));
  }

  stop(): void {
    this.on = false;
    this.unbind.splice(0).forEach((run) => run());
    this.map.doubleClickZoom.enable();
    this.map.boxZoom.enable();
    this.clear();
  }

  clear(): void {
    this.from = null;
    this.corners = [];
    this.tell();
  }

  undo(): void {
    this.corners = this.corners.slice(0, -1);
    this.tell();
  }

  /** A corner at a place; one that meets the first closes the shape. */
  corner(spot: Spot): void {
    const first = this.corners[0];
    if (first && this.corners.length > 2 && this.pixels(first, spot) <= CLOSE_PX) {
      this.finish();
      return;
    }
    const last = this.corners[this.corners.length - 1];
    if (last && this.pixels(last, spot) < 2) return;
    this.corners = [...this.corners, spot];
    this.tell();
  }

  finish(): void {
    if (this.corners.length < 3) return;
    const shape = polygon(this.corners);
    if (!shape) {
      this.hooks.crossed();
      return;
    }
    this.clear();
    this.hooks.drawn(shape);
  }

  private press(event: Press): void {
    if ("points" in event && event.points.length > 1) {
      this.abandon();
      return;
    }
    if (event.originalEvent instanceof MouseEvent && event.originalEvent.button !== 0) return;
    event.preventDefault(); // The map stays where it is while a box is drawn.
    this.from = { point: event.point, spot: { lat: event.lngLat.lat, lon: event.lngLat.lng } };
  }

  private drag(event: Press): void {
    if (!this.from || this.isTap(event)) return;
    this.overlay.setSketch([], this.box(event));
  }

  private release(event: Press): void {
    if (!this.from) return;
    const tapped = this.isTap(event);
    const shape = this.box(event);
    const spot = this.from.spot;
    this.from = null;
    if (tapped) {
      // The first click of two has set the last corner, the second one closes the shape.
      const twice = event.originalEvent.timeStamp - this.tapped < DOUBLE_MS && this.isNearLast(spot);
      this.tapped = event.originalEvent.timeStamp;
      if (twice && this.corners.length > 2) this.finish();
      else this.corner(spot);
    } else {
      this.clear();
      this.hooks.drawn(shape);
    }
  }

  private abandon(): void {
    this.from = null;
    this.tell();
  }

  private isNearLast(spot: Spot): boolean {
    const last = this.corners[this.corners.length - 1];
    return last !== undefined && this.pixels(last, spot) < CLOSE_PX;
  }

  private isTap(event: Press): boolean {
    const from = this.from?.point;
    return !from || Math.hypot(event.point.x - from.x, event.point.y - from.y) < TAP_PX;
  }

  private box(event: Press): GeoJSON.Polygon {
    const one = this.from?.spot ?? { lat: event.lngLat.lat, lon: event.lngLat.lng };
    const other = event.lngLat;
    return rectangle({
      south: Math.min(one.lat, other.lat),
      west: Math.min(one.lon, other.lng),
      north: Math.max(one.lat, other.lat),
      east: Math.max(one.lon, other.lng),
    });
  }

  private pixels(one: Spot, other: Spot): number {
    const here = this.map.project([one.lon, one.lat]);
    const there = this.map.project([other.lon, other.lat]);
    return Math.hypot(here.x - there.x, here.y - there.y);
  }

  private tell(): void {
    const shape = this.corners.length > 2 ? polygon(this.corners) : null;
    this.overlay.setSketch(this.corners, shape);
    this.hooks.changed(this.corners.length, shape !== null);
  }
}
