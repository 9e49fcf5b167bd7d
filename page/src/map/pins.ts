/** Pins as buttons on the map: they grow with their probability, say what they are, and point back to the lists. */
import { Marker, type Map as GlMap } from "maplibre-gl";
import type { Mark } from "./marks";

const SVG = "http://www.w3.org/2000/svg";
const DROP = "M14 1C6.8 1 1 6.700 1 13.900 1 23.600 14 35 14 35s13-11.400 13-21.100C27 6.700 21.200 1 14 1z";
const DIAMOND = "M14 9l13 13-13 13L1 22z";
const DISC = "M14 9a13 13 0 0 1 0 26a13 13 0 0 1 0-26z";
const ORDER = { camera: 7, feature: 6, pinned: 5, answer: 4, place: 4, claimed: 3, rival: 2, dropped: 1 } as const;

interface Pin {
  marker: Marker;
  button: HTMLButtonElement;
  letter: HTMLElement;
  label: HTMLElement;
}

function shapeOf(mark: Mark): "drop" | "diamond" | "disc" {
  if (mark.kind === "claimed") return "diamond";
  return mark.stands === "letter" ? "disc" : "drop";
}

export class Pins {
  private readonly pins = new Map<string, Pin>();

  constructor(
    private readonly map: GlMap,
    private readonly onHighlight: (id: string | null) => void,
    private readonly onChosen: (id: string) => void,
  ) {}

  show(all: readonly Mark[], highlighted: string | null): void {
    const marks = all.filter((mark) => mark.stands !== "nothing");
    const wanted = new Set(marks.map((mark) => mark.id));
    for (const [id, pin] of this.pins) {
      if (wanted.has(id)) continue;
      pin.marker.remove();
      this.pins.delete(id);
    }
    for (const mark of marks) this.place(mark, mark.id === highlighted);
  }

  highlight(id: string | null): void {
    for (const [own, pin] of this.pins) {
      pin.button.classList.toggle("highlighted", own === id);
      if (own === id) this.keepInside(pin.label);
    }
  }

  clear(): void {
    for (const pin of this.pins.values()) pin.marker.remove();
    this.pins.clear();
  }

  private place(mark: Mark, highlighted: boolean): void {
    let pin = this.pins.get(mark.id);
    if (pin && pin.button.dataset["shape"] !== shapeOf(mark)) {
      pin.marker.remove();
      pin = undefined;
    }
    if (!pin) {
      pin = this.made(mark);
      this.pins.set(mark.id, pin);
    }
    pin.marker.setLngLat([mark.lon, mark.lat]);
    pin.button.dataset["kind"] = mark.kind;
    pin.button.setAttribute("aria-label", mark.letter ? `${mark.letter}: ${mark.words}` : mark.words);
    pin.button.classList.toggle("highlighted", highlighted);
    pin.button.style.zIndex = String(ORDER[mark.kind] * 100 + Math.round(mark.strength * 99));
    pin.button.style.setProperty("--strength", mark.strength.toFixed(3));
    pin.letter.textContent = mark.letter;
    pin.label.textContent = mark.words;
  }

  /** A label that the map's edge would cut moves aside. */
  private keepInside(label: HTMLElement): void {
    label.style.setProperty("--nudge", "0px");
    const map = this.map.getContainer().getBoundingClientRect();
    const own = label.getBoundingClientRect();
    const nudge = Math.max(0, map.left + 6 - own.left) - Math.max(0, own.right - (map.right - 6));
    label.style.setProperty("--nudge", `${Math.round(nudge)}px`);
  }

  private made(mark: Mark): Pin {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "pin";
    button.dataset["id"] = mark.id;
    const shape = shapeOf(mark);
    button.dataset["shape"] = shape;
    const body = document.createElement("span");
    body.className = "pin-body";
    const picture = document.createElementNS(SVG, "svg");
    picture.setAttribute("viewBox", "0 0 28 36");
    picture.setAttribute("aria-hidden", "true");
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("d", shape === "diamond" ? DIAMOND : shape === "disc" ? DISC : DROP);
    picture.append(path);
    const letter = document.createElement("span");
    letter.className = "pin-letter";
    letter.setAttribute("aria-hidden", "true");
    body.append(picture, letter);
    const label = document.createElement("span");
    label.className = "pin-label";
    label.setAttribute("aria-hidden", "true");
    button.append(body, label);
    const here = (): void => {
      this.keepInside(label);
      this.onHighlight(mark.id);
    };
    const gone = (): void => this.onHighlight(null);
    button.addEventListener("pointerenter", here);
    button.addEventListener("focus", here);
    button.addEventListener("pointerleave", gone);
    button.addEventListener("blur", gone);
    // The map's own handlers would take the press for a click on the ground, or zoom on a double one.
    for (const kind of ["mousedown", "touchstart", "dblclick"]) {
      button.addEventListener(kind, (event) => event.stopPropagation(), { passive: true });
    }
    button.addEventListener("click", (event) => {
      event.stopPropagation();
      this.onChosen(mark.id);
    });
    const marker = new Marker({ element: button, anchor: shape === "drop" && mark.kind !== "camera" ? "bottom" : "center" });
    marker.setLngLat([mark.lon, mark.lat]).addTo(this.map);
    return { marker, button, letter, label };
  }
}
