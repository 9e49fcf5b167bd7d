import { useEffect, useMemo, useState } from "preact/hooks";
import type { AnswerView, CandidateView, ClueView, ResultView, RunShown, RunState, TextLine } from "../api/types";
import { watch, type Live } from "../state/live";
import { isActive } from "../state/summary";
import { NOTHING_TOLD, ranked, type RunView } from "../state/runReducer";

export interface ShownRun {
  view: RunView;
  result: ResultView | null;
  state: RunState;
  live: boolean;
  answer: AnswerView | null;
  clues: ClueView[];
  lines: TextLine[];
  candidates: CandidateView[];
  reachable: boolean;
  trouble: string | null;
}

/** A run as it stands: what was told so far, and the result as soon as there is one. */
export function useRun(run: RunShown, onOver: () => void): ShownRun {
  const [live, setLive] = useState<Live | null>(null);
  useEffect(() => {
    // A run that was over before we came changes nothing in the row that shows it.
    const wasActive = isActive(run);
    const watched = watch(run.id, () => {
      if (wasActive) onOver();
    });
    setLive(watched);
    return () => watched.stop();
  }, [run.id]);

  const view = live?.view.value ?? NOTHING_TOLD;
  const result = live?.result.value ?? null;
  const state = view.state ?? run.state;
  const active = state === "queued" || state === "running";
  const answer = active ? null : (result?.answer ?? view.answer);
  const pool = view.candidates.length > 0 ? view.candidates : (result?.pool ?? view.candidates);
  const candidates = useMemo(() => ranked(pool, answer), [pool, answer]);
  return {
    view, result, state, answer, candidates,
    live: active,
    clues: result && result.clues.length > 0 ? result.clues : view.clues,
    lines: result && result.text.length > 0 ? result.text : view.lines,
    reachable: live?.reachable.value ?? true,
    trouble: live?.trouble.value ?? null,
  };
}
