/** What somebody marks in a photo, in shares of it: a point, a box, or a line from its first end to its second. */

export interface Share {
  x: number;
  y: number;
}

export type MarkKind = "point" | "box" | "line";

export interface PhotoMark {
  id: string;
  /** Which photo it lies on, as an index. */
  photo: number;
  kind: MarkKind;
  from: Share;
  to: Share;
  label: string;
}

/** What is being marked now. */
export interface Marking {
  kind: MarkKind;
  /** What to do, in a sentence. */
  how: string;
  onDone(from: Share, to: Share): void;
}
