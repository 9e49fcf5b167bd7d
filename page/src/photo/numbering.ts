/** The numbers of boxes: the same on the photo and in every list beside it. */
export interface Numbered {
  id: string;
  kind: "text" | "clue" | "crop";
}

/** Clues and texts are counted in the order they come; crops are outlines without a number. */
export function numbersOf(boxes: readonly Numbered[]): Map<string, number> {
  const numbers = new Map<string, number>();
  for (const box of boxes) {
    if (box.kind !== "crop" && !numbers.has(box.id)) numbers.set(box.id, numbers.size + 1);
  }
  return numbers;
}
