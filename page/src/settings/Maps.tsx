import { useEffect, useState } from "preact/hooks";
import { bytes } from "../format";
import { progressWords } from "../maps/progress";
import { fetching, loadMaps, mapAskedFor, maps, mapsRefused, mapsUnknown } from "../state/maps";
import { t } from "../strings";
import { Field } from "../ui/Field";
import { Icon } from "../ui/Icon";
import { Loading } from "../ui/parts";

/** Maps on this machine, and how to get another. */
export function Maps() {
  const [place, setPlace] = useState("");
  useEffect(() => void loadMaps(), []);
  const regions = maps.value?.regions ?? [];
  const job = fetching.value;
  return (
    <section class="settings-part" aria-labelledby="maps-title">
      <h2 id="maps-title">{t("settings.maps")}</h2>
      {maps.value === null ? (
        mapsRefused.value !== null ? null : mapsUnknown.value !== null ? (
          <p class="quiet">{t("maps.unknown", { trouble: mapsUnknown.value })}</p>
        ) : (
          <Loading />
        )
      ) : regions.length === 0 ? (
        <p class="quiet">{t("settings.noRegions")}</p>
      ) : (
        <ul class="keylist">
          {regions.map((one) => (
            <li key={one.name}>
              <Icon name="map" size={16} />
              <span class="key-name">{one.name}</span>
              <span class="quiet">{t(one.day === null ? "maps.row" : "maps.rowOfDay", { size: bytes(one.size_bytes), from: one.source, day: one.day ?? "" })}</span>
            </li>
          ))}
        </ul>
      )}
      {mapsRefused.value === null ? (
        <form
          class="mapform"
          onSubmit={(event) => {
            event.preventDefault();
            if (place.trim()) mapAskedFor.value = place.trim();
          }}
        >
          <Field label={t("maps.place")} help={t("maps.placeHelp")} value={place} onInput={setPlace} />
          <div class="buttons">
            <button type="submit" disabled={place.trim() === "" || maps.value === null || job !== null}>
              {t("maps.get")}
            </button>
          </div>
        </form>
      ) : (
        <p class="quiet">{mapsRefused.value}</p>
      )}
      {job === null ? null : (
        <p class="quiet">
          <button type="button" class="linkish" onClick={() => (mapAskedFor.value = job.place)}>
            {job.place}
          </button>{" "}
          {progressWords(job)}
        </p>
      )}
    </section>
  );
}
