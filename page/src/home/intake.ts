/** From chosen files to runs that are under way. */
import { api, Trouble } from "../api/client";
import type { RunRequest } from "../api/types";
import { t } from "../strings";

export interface Chosen {
  key: number;
  file: File;
  preview: string;
}

/** The kinds of picture that every browser can draw; of others only the server can say what they are. */
const DRAWABLE = /^image\/(jpeg|png|webp|gif)$/;
const NO_PICTURE = /^(text|audio)\/|^application\/(pdf|zip|json|msword|vnd)/;

/** What is wrong with a file, as far as it shows at once; `undrawn` where the browser could not draw it. */
export function flawOf(file: File, undrawn = false): string | null {
  if (file.size === 0) return t("home.empty");
  if (NO_PICTURE.test(file.type) || (undrawn && DRAWABLE.test(file.type))) return t("home.noPicture");
  return null;
}

let count = 0;

export function chosenOf(file: File): Chosen {
  count += 1;
  return { key: count, file, preview: URL.createObjectURL(file) };
}

export function drop(chosen: Chosen): void {
  URL.revokeObjectURL(chosen.preview);
}

/** The pictures among what was dropped or pasted. */
export function filesOf(transfer: DataTransfer | null): File[] {
  return transfer ? [...transfer.files] : [];
}

export interface Refused {
  key: number;
  line: string;
}

/** Which photos were refused and why, what else looks like no photograph, and the case; none is kept where no photo was taken. */
export async function caseOf(photos: readonly Chosen[], onProgress: (done: number) => void): Promise<{ caseId: string | null; refused: Refused[]; unlike: string[] }> {
  const made = await api.newCase("", "");
  const refused: Refused[] = [];
  const unlike: string[] = [];
  let taken = 0;
  for (const [index, photo] of photos.entries()) {
    try {
      const name = photo.file.name || t("home.pastedName");
      const { not_a_photo: nature } = await api.addPhoto(made.id, name, photo.file);
      taken += 1;
      if (nature !== null) unlike.push(t("home.unlike", { name, nature }));
    } catch (thrown) {
      if (!(thrown instanceof Trouble) || thrown.gone) throw thrown;
      refused.push({ key: photo.key, line: t("home.refused", { name: photo.file.name, why: thrown.message }) });
    }
    onProgress(index + 1);
  }
  if (taken === 0) await api.deleteCase(made.id);
  return { caseId: taken === 0 ? null : made.id, refused, unlike };
}

/** The request with what was left empty taken out: the server knows its defaults. */
export function tidy(request: Partial<RunRequest>): Partial<RunRequest> {
  return Object.fromEntries(Object.entries(request).filter(([, value]) => value !== null && value !== "" && value !== undefined));
}
