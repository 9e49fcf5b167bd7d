/** Wheel, drag and pinch on a photo, as changes of how it lies. */
import { type Lie, shifted, zoomed } from "./zoom";

export interface Gestures {
  stop(): void;
}

interface Finger {
  x: number;
  y: number;
}

export function listen(frame: HTMLElement, read: () => Lie, write: (lie: Lie) => void): Gestures {
  const fingers = new Map<number, Finger>();
  const ending = new AbortController();
  const { signal } = ending;

  function share(x: number, y: number): Finger {
    const box = frame.getBoundingClientRect();
    return { x: (x - box.left) / box.width, y: (y - box.top) / box.height };
  }

  function onWheel(event: WheelEvent): void {
    // A wheel that only passes over the photo still scrolls the page.
    const meant = event.ctrlKey || event.metaKey || read().scale > 1 || frame.contains(document.activeElement);
    if (!meant) return;
    const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
    const at = share(event.clientX, event.clientY);
    const next = zoomed(read(), Math.exp((-event.deltaY * lines) / 300), at.x, at.y);
    if (next.scale === 1 && read().scale === 1) return;
    event.preventDefault();
    write(next);
  }

  function onDown(event: PointerEvent): void {
    if (event.button !== 0) return;
    fingers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  function onMove(event: PointerEvent): void {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    const now = { x: event.clientX, y: event.clientY };
    const box = frame.getBoundingClientRect();
    if (other) {
      const wide = Math.hypot(before.x - other.x, before.y - other.y);
      const wider = Math.hypot(now.x - other.x, now.y - other.y);
      const middle = share((now.x + other.x) / 2, (now.y + other.y) / 2);
      const moved = shifted(read(), (now.x - before.x) / 2 / box.width, (now.y - before.y) / 2 / box.height);
      write(zoomed(moved, wide > 0 ? wider / wide : 1, middle.x, middle.y));
    } else if (read().scale > 1) {
      // Taken only once it moves, so that a press on a box stays a click.
      if (!frame.hasPointerCapture(event.pointerId)) frame.setPointerCapture(event.pointerId);
      write(shifted(read(), (now.x - before.x) / box.width, (now.y - before.y) / box.height));
    }
    fingers.set(event.pointerId, now);
  }

  function onUp(event: PointerEvent): void {
    fingers.delete(event.pointerId);
  }

  frame.addEventListener("wheel", onWheel, { passive: false, signal });
  frame.addEventListener("pointerdown", onDown, { signal });
  frame.addEventListener("pointermove", onMove, { signal });
  for (const kind of ["pointerup", "pointercancel", "lostpointercapture"] as const) frame.addEventListener(kind, onUp, { signal });
  window.addEventListener("pointerup", onUp, { signal });
  return { stop: () => ending.abort() };
}
