import { useState } from "preact/hooks";
import { troubleOf } from "../api/client";

export interface Act {
  busy: boolean;
  /** What went wrong the last time; null where nothing did. */
  trouble: string | null;
  setTrouble(trouble: string | null): void;
  act(work: () => Promise<void>): Promise<void>;
}

/** One piece of work at a time for a part of the page: whether it goes on, and what went wrong. */
export function useAct(): Act {
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const act = async (work: () => Promise<void>): Promise<void> => {
    setBusy(true);
    setTrouble(null);
    try {
      await work();
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    } finally {
      setBusy(false);
    }
  };
  return { busy, trouble, setTrouble, act };
}
