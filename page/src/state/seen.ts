/** What somebody ticked in the checklist, for the next run; empty where nothing was. */
import { signal } from "@preact/signals";

export const seenWords = signal("");

/** The run that the checklist was opened from; `told` once it is to be run again with what was ticked. */
export const seenFor = signal<{ caseId: string; runId: string; told: boolean } | null>(null);

const TICK = /^[a-z_]+=[^\s=]+$/;

/** Words of a wish as the checklist has them: ticks, and what was written besides. */
export function ticksOf(words: string): { ticks: Set<string>; written: string } {
  const parts = words.split(/[,;\n]+/).map((part) => part.trim()).filter((part) => part !== "");
  return { ticks: new Set(parts.filter((part) => TICK.test(part))), written: parts.filter((part) => !TICK.test(part)).join(", ") };
}

/** The words without a part of them, or with another one in its place. */
export function withoutPart(words: string, part: string, instead = ""): string {
  const at = words.indexOf(part);
  if (at < 0) return words;
  const parts = `${words.slice(0, at)}${instead}${words.slice(at + part.length)}`.split(/[,;\n]+/);
  return parts.map((one) => one.trim()).filter((one) => one !== "").join(", ");
}
