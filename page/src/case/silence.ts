/** What stands where nothing stands: not come yet, withheld, not looked at, or truly nothing. */
import type { Granularity, RunState } from "../api/types";
import { t } from "../strings";

const BROKEN: ReadonlySet<RunState> = new Set<RunState>(["failed", "cancelled", "interrupted"]);

export interface Silence {
  /** That it may not be told, where it may not. */
  withheld: string | null;
  /** `yet` while a run is under way, `none` where it has looked to the end. */
  of(yet: string, none: string): string;
}

export function silenceOf(state: RunState, granularity: Granularity): Silence {
  const withheld = granularity === "exact" ? null : t("silence.withheld", { level: t(`granularity.${granularity}`) });
  return {
    withheld,
    of(yet, none) {
      if (withheld !== null) return withheld;
      if (BROKEN.has(state)) return t("silence.broken");
      return state === "done" ? none : yet;
    },
  };
}
