/** What is said aloud, and what is shown for a moment at the edge. */
import { signal } from "@preact/signals";

export const spoken = signal("");

export interface Notice {
  id: number;
  words: string;
  bad: boolean;
}

export const notices = signal<Notice[]>([]);
const SHOWN_MS = 6000;
let count = 0;

export function announce(words: string): void {
  spoken.value = words;
}

/** Show a line for a moment; trouble stays until it is put away. There are never more than two. */
export function notify(words: string, { bad = false }: { bad?: boolean } = {}): void {
  count += 1;
  const notice: Notice = { id: count, words, bad };
  notices.value = [...notices.value.filter((one) => one.words !== words).slice(-1), notice];
  if (!bad) setTimeout(() => dismiss(notice.id), SHOWN_MS);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((one) => one.id !== id);
}
