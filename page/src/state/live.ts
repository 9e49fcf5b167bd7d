/** One run that is being watched: what was told of it, whether the server is heard, and its result once it is done. */
import { batch, signal, type ReadonlySignal } from "@preact/signals";
import { api, troubleOf } from "../api/client";
import { listen } from "../api/stream";
import type { ResultView, Told } from "../api/types";
import { t } from "../strings";
import { announce } from "./announce";
import { after, NOTHING_TOLD, type RunView } from "./runReducer";

export interface Live {
  readonly runId: string;
  readonly view: ReadonlySignal<RunView>;
  readonly reachable: ReadonlySignal<boolean>;
  readonly trouble: ReadonlySignal<string | null>;
  readonly result: ReadonlySignal<ResultView | null>;
  stop(): void;
}

/** Only turning points are spoken: a screen reader is no ticker. */
function speak(told: Told): void {
  if (told.kind === "answer") announce(told.data.located ? t("say.answer", { place: told.data.place }) : t("say.noAnswer"));
  else if (told.kind === "state" && told.data.state === "running") announce(t("say.running"));
  else if (told.kind === "state" && told.data.state === "failed") announce(t("say.failed"));
}

export function watch(runId: string, onOver: () => void): Live {
  const view = signal<RunView>(NOTHING_TOLD);
  const reachable = signal(true);
  const trouble = signal<string | null>(null);
  const result = signal<ResultView | null>(null);
  let stopped = false;
  const begun = Date.now();

  const fetchResult = async (): Promise<void> => {
    try {
      const found = await api.result(runId);
      if (!stopped) result.value = found;
    } catch (thrown) {
      const told = troubleOf(thrown);
      // A run that was called off before its first answer has none; that is no trouble.
      if (!stopped && told.status !== 404 && told.status !== 409) trouble.value = told.message;
    }
  };

  const stopListening = listen(runId, {
    told(events) {
      batch(() => {
        view.value = events.reduce(after, view.value);
      });
      // What happened before we came is read, not heard.
      if (Date.now() - begun > 1500) events.forEach(speak);
    },
    reachable(yes) {
      if (yes !== reachable.value) announce(yes ? t("say.back") : t("say.gone"));
      reachable.value = yes;
    },
    failed(message) {
      trouble.value = message;
    },
    closed() {
      void fetchResult();
      onOver();
    },
  });

  return {
    runId, view, reachable, trouble, result,
    stop() {
      stopped = true;
      stopListening();
    },
  };
}
