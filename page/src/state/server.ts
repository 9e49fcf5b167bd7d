/** What the server says about itself, the settings, and whether it wants a token. */
import { signal } from "@preact/signals";
import { api, troubleOf, whenSignInIsWanted } from "../api/client";
import type { AboutShown, SettingsShown } from "../api/types";

export const about = signal<AboutShown | null>(null);
export const settings = signal<SettingsShown | null>(null);
export const signInWanted = signal(false);
/** Whether the server wants a token, so that there is something to sign out of. */
export const signedIn = signal(false);
export const serverGone = signal(false);

const AGAIN_MS = 3000;

whenSignInIsWanted(() => (signInWanted.value = true));

/** Ask for both; where the server can't be reached, ask again until it can. */
export async function meet(): Promise<void> {
  try {
    const [saidOfItself, kept] = await Promise.all([api.about(), api.settings()]);
    about.value = saidOfItself;
    settings.value = kept;
    serverGone.value = false;
    signInWanted.value = false;
    signedIn.value = saidOfItself.token;
  } catch (thrown) {
    const trouble = troubleOf(thrown);
    serverGone.value = trouble.gone || trouble.status >= 500;
    if (serverGone.value) setTimeout(() => void meet(), AGAIN_MS);
  }
}

export function formats(): string[] {
  return about.value?.formats ?? ["html", "json", "geojson", "kml", "csv", "dwc.csv", "xmp", "jsonl"];
}

