/** Server-sent events over fetch: they come back by themselves, with the number of the last one that was seen. */
import { api, ask, troubleOf } from "./client";
import type { Told, ToldKind } from "./types";

const KINDS: ReadonlySet<string> = new Set<ToldKind>([
  "state", "started", "resumed", "said", "observed", "candidate", "clues", "spent", "answer", "member", "ended",
]);
const FINAL: ReadonlySet<string> = new Set(["done", "failed", "cancelled", "interrupted"]);
const FIRST_WAIT_MS = 400;
const LONGEST_WAIT_MS = 5000;

/** One block of the wire, without its empty line; null where it tells us nothing. */
export function toldOf(block: string): Told | null {
  let id = -1;
  let kind = "";
  const data: string[] = [];
  for (const line of block.split(/\r?\n/)) {
    const cut = line.indexOf(":");
    if (cut <= 0) continue;
    const name = line.slice(0, cut);
    const value = line.slice(cut + 1).replace(/^ /, "");
    if (name === "id") id = Number(value);
    else if (name === "event") kind = value;
    else if (name === "data") data.push(value);
  }
  if (!KINDS.has(kind) || data.length === 0 || !Number.isInteger(id)) return null;
  return { id, kind, data: JSON.parse(data.join("\n")) as unknown } as Told;
}

export interface Listener {
  told(batch: Told[]): void;
  /** Whether we hear the server; false while we try again. */
  reachable(yes: boolean): void;
  failed(message: string): void;
  closed(): void;
}

async function readBlocks(body: ReadableStream<Uint8Array>, each: (blocks: string[]) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    if (blocks.length > 0) each(blocks);
  }
}

/** Listen to a run until it is over; the returned function stops listening (the run goes on). */
export function listen(runId: string, listener: Listener): () => void {
  const stop = new AbortController();
  let last = -1;
  let final = false;

  const hear = (blocks: string[]): void => {
    const batch = blocks.map(toldOf).filter((told): told is Told => told !== null && told.id > last);
    const newest = batch.at(-1);
    if (newest === undefined) return;
    last = newest.id;
    for (const told of batch) if (told.kind === "state") final = FINAL.has(told.data.state);
    listener.told(batch);
  };

  const work = async (): Promise<void> => {
    let wait = FIRST_WAIT_MS;
    while (!stop.signal.aborted && !final) {
      try {
        const response = await ask(api.eventsUrl(runId, last), { signal: stop.signal, headers: last >= 0 ? { "Last-Event-ID": String(last) } : {} });
        listener.reachable(true);
        wait = FIRST_WAIT_MS;
        if (response.body) await readBlocks(response.body, hear);
      } catch (thrown) {
        if (stop.signal.aborted) return;
        const trouble = troubleOf(thrown);
        if (trouble.status >= 400 && trouble.status < 500 && trouble.status !== 429) {
          listener.failed(trouble.message);
          return;
        }
        listener.reachable(false);
      }
      if (final) break;
      await new Promise((resume) => setTimeout(resume, wait));
      wait = Math.min(LONGEST_WAIT_MS, wait * 2);
    }
    if (!stop.signal.aborted) listener.closed();
  };
  void work();
  return () => stop.abort();
}
