/** What somebody ticked in the checklist, for the next run; empty where nothing was. */
import { signal } from "@preact/signals";

export const seenWords = signal("");
