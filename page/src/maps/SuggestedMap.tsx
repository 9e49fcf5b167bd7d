import { useEffect } from "preact/hooks";
import type { AnswerView } from "../api/types";
import { bytes } from "../format";
import { covered, fetching, loadMaps, mapAskedFor, maps, mapsRefused } from "../state/maps";
import { t } from "../strings";
import { Icon } from "../ui/Icon";

/** A map that would help and is not there: one button brings it; once it is there, one button uses it. */
export function SuggestedMap({ answer, onAgain }: { answer: AnswerView; onAgain(): void }) {
  const wanted = answer.map ?? null;
  useEffect(() => {
    if (wanted !== null) void loadMaps();
  }, [wanted?.place]);
  if (wanted === null) return null;
  const { place, size_bytes: size } = wanted;
  if (mapsRefused.value !== null) return <p class="suggested-map">{t("maps.elsewhere", { place })}</p>;
  if (maps.value === null) return null;
  const under = fetching.value?.place === place ? fetching.value : null;
  const there = maps.value.job?.place === place && maps.value.job.state === "done";
  if (!there && under === null && answer.lat !== null && answer.lon !== null && covered(answer.lat, answer.lon)) return null;
  return (
    <p class="suggested-map">
      <span>{there ? t("maps.done", { place }) : t("maps.wouldHelp", { place })}</span>
      {there ? (
        <button type="button" class="small" onClick={onAgain}>
          {t("maps.runAgain")}
        </button>
      ) : (
        <button type="button" class="small" onClick={() => (mapAskedFor.value = place)}>
          <Icon name="save" size={16} />
          <span>{under ? t("maps.underWay") : size === null ? t("maps.get") : t("maps.getSize", { size: bytes(size) })}</span>
        </button>
      )}
    </p>
  );
}
