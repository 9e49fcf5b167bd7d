import type { MapJobShown } from "../api/types";
import { bytes, percent } from "../format";
import { t } from "../strings";

/** How far a map is. */
export function progressWords(job: MapJobShown): string {
  const share = percent(job.share);
  return job.state === "downloading" ? t("maps.downloading", { share, size: bytes(job.size_bytes) }) : t("maps.importing", { what: job.what, share });
}
