/** The numbers of boxes: the same on the photo, in every list beside it and in the report. */
import type { TextLine } from "../api/types";
import { overlap, type PhotoBox } from "../state/links";

const SAME = 0.6;

/** The places of rows such that their numbers ascend; rows without a number stay where they are. */
export function inOrder(numbers: readonly (number | null)[]): number[] {
  const places = numbers.map((_, place) => place);
  const numbered = places.filter((place) => numbers[place] !== null).sort((one, other) => (numbers[one] ?? 0) - (numbers[other] ?? 0));
  return places.map((place) => (numbers[place] === null ? place : (numbered.shift() ?? place)));
}

/** What the report numbers has its number; other clues and texts are counted on from there. Crops have none. */
export function numbersOf(boxes: readonly PhotoBox[], reported: readonly TextLine[]): Map<string, number> {
  const numbers = new Map<string, number>();
  const told = reported.filter((line) => line.number != null);
  for (const box of boxes) {
    const line = told.find((one) => one.photo === box.photo && overlap(one.box, box.box) > SAME);
    if (line?.number != null && ![...numbers.values()].includes(line.number)) numbers.set(box.id, line.number);
  }
  let next = told.reduce((most, line) => Math.max(most, line.number ?? 0), 0);
  for (const box of boxes) if (box.kind !== "crop" && !numbers.has(box.id)) numbers.set(box.id, ++next);
  return numbers;
}
