/** The set-up of a model, as the server tells it. */
import { get, send } from "./client";
import type { PullShown, SettingsShown, SetupShown, TriedShown } from "./schema";

export const setupApi = {
  read: () => get<SetupShown>("/api/setup"),
  look: () => send<SetupShown>("POST", "/api/setup/look", {}),
  attempt: (model: string, base_url: string | null, send_to: string[]) => send<TriedShown>("POST", "/api/setup/try", { model, base_url, send_to }),
  setDefault: (model: string, base_url: string | null) => send<SettingsShown>("PUT", "/api/setup/default", { model, base_url }),
  dismiss: () => send<void>("POST", "/api/setup/dismiss", {}),
  pull: (host: string) => send<PullShown>("POST", "/api/setup/pull", { host }),
  pulling: () => get<PullShown | null>("/api/setup/pull"),
  stopPull: () => send<void>("DELETE", "/api/setup/pull"),
};
