/** Lines of text in the photos: as they were read, and as a person reads them. */
import type { Box, ReadingShown, TextLine } from "../api/types";
import { overlap } from "../state/links";

export interface Line {
  key: string;
  text: string;
  /** Counted from 1. */
  photo: number;
  box: Box;
  /** What was read there before; empty where nothing was. */
  was: string;
  /** Whether a person has read it so. */
  own: boolean;
}

const SAME = 0.5;

export function keyOf(photo: number, box: Box): string {
  return `${photo} ${box.map((side) => side.toFixed(4)).join(" ")}`;
}

/** The lines of a run with readings laid over them; the later reading of a spot counts. */
export function linesOf(read: readonly TextLine[], readings: readonly ReadingShown[]): Line[] {
  const own = new Map(readings.map((one) => [keyOf(one.photo, one.box), one]));
  const told = [...own].map(([key, one]): Line => ({ key, text: one.text, photo: one.photo, box: one.box, was: one.was, own: true }));
  const kept = read.filter((line) => !told.some((one) => one.photo === line.photo && overlap(one.box, line.box) >= SAME));
  return [...kept.map((line): Line => ({ key: keyOf(line.photo, line.box), text: line.text, photo: line.photo, box: line.box, was: "", own: false })), ...told];
}

/** The line that a box of the photo shows. */
export function lineAt(lines: readonly Line[], photo: number, box: Box): Line | null {
  const shares = lines.map((line) => (line.photo === photo ? overlap(line.box, box) : 0));
  const most = Math.max(0, ...shares);
  return most > 0 ? (lines[shares.indexOf(most)] ?? null) : null;
}
