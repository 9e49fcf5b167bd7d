/** How a photo lies in its frame: a scale and a shift, never farther than its edges. */

export interface Lie {
  /** 1 shows all of it. */
  scale: number;
  /** Shift of the photo's top left corner, in shares of the frame. */
  x: number;
  y: number;
}

export const WHOLE: Lie = { scale: 1, x: 0, y: 0 };
export const MOST_SCALE = 12;

function held(value: number, scale: number): number {
  return Math.min(0, Math.max(1 - scale, value));
}

/** The same place of the photo stays under (atX, atY), in shares of the frame. */
export function zoomed(lie: Lie, factor: number, atX = 0.5, atY = 0.5): Lie {
  const scale = Math.min(MOST_SCALE, Math.max(1, lie.scale * factor));
  const grown = scale / lie.scale;
  return { scale, x: held(atX - (atX - lie.x) * grown, scale), y: held(atY - (atY - lie.y) * grown, scale) };
}

export function shifted(lie: Lie, byX: number, byY: number): Lie {
  return { scale: lie.scale, x: held(lie.x + byX, lie.scale), y: held(lie.y + byY, lie.scale) };
}

/** Bring a box of the photo into view where it is not, without changing the scale. */
export function showing(lie: Lie, [left, top, right, bottom]: readonly [number, number, number, number]): Lie {
  const seen = (low: number, high: number, shift: number): boolean =>
    low * lie.scale + shift >= 0 && high * lie.scale + shift <= 1;
  if (lie.scale === 1 || (seen(left, right, lie.x) && seen(top, bottom, lie.y))) return lie;
  const middle = (low: number, high: number): number => 0.5 - ((low + high) / 2) * lie.scale;
  return { scale: lie.scale, x: held(middle(left, right), lie.scale), y: held(middle(top, bottom), lie.scale) };
}
