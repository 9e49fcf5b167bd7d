import { useState } from "preact/hooks";
import { setupApi } from "../api/setup";
import { about } from "../state/server";
import { later } from "../ui/later";

const Setup = later(async () => (await import("./Setup")).Setup);

/** The set-up as long as nobody has chosen a model or sent it away. */
export function FirstVisit() {
  const [closed, setClosed] = useState(false);
  if (closed || !about.value?.setup) return null;
  const close = (): void => {
    setClosed(true);
    document.getElementById("main")?.focus({ preventScroll: true });
  };
  const dismiss = (): void => {
    close();
    void setupApi.dismiss();
    if (about.value) about.value = { ...about.value, setup: false };
  };
  return <Setup onDone={close} onDismiss={dismiss} />;
}

/** The same from the settings, whenever somebody wants it. */
export { Setup as SetupLater };
