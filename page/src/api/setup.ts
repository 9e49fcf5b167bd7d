/** The set-up of a model, as the server tells it. */
import { get, send } from "./client";
import type { Settings } from "./types";

/** A model within reach; `sent_to` is null where photos stay on this machine. */
export interface Reachable {
  model: string;
  where: string;
  base_url: string | null;
  sees: boolean | null;
  sent_to: string | null;
  cost: string;
}

export interface PullJob {
  model: string;
  state: "fetching" | "done" | "failed" | "cancelled";
  done_bytes: number;
  size_bytes: number;
  trouble: string | null;
}

export interface SetupView {
  default: string | null;
  asked: boolean;
  models: Reachable[];
  broken: { title: string; where: string; trouble: string }[];
  offer: { model: string; size_gb: number; licence: string; host: string; runs: boolean } | null;
  pull: PullJob | null;
}

export interface Tried {
  answer: string;
  /** Whether that is where the example shows. */
  right: boolean;
  seconds: number;
}

export const setupApi = {
  read: () => get<SetupView>("/api/setup"),
  look: () => send<SetupView>("POST", "/api/setup/look", {}),
  attempt: (model: string, base_url: string | null, send_to: string[]) => send<Tried>("POST", "/api/setup/try", { model, base_url, send_to }),
  setDefault: (model: string, base_url: string | null) => send<Settings>("PUT", "/api/setup/default", { model, base_url }),
  dismiss: () => send<void>("POST", "/api/setup/dismiss", {}),
  pull: (host: string) => send<PullJob>("POST", "/api/setup/pull", { host }),
  pulling: () => get<PullJob | null>("/api/setup/pull"),
  stopPull: () => send<void>("DELETE", "/api/setup/pull"),
};
