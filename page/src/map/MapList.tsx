import { coordinates } from "../format";
import { t } from "../strings";
import type { Mark } from "./marks";

/** What the map would show, in words, where the browser can draw no map. */
export function MapList({ marks }: { marks: readonly Mark[] }) {
  return (
    <div class="map-list">
      <p>{t("map.unable")}</p>
      {marks.length > 0 && (
        <ul>
          {marks.map((mark) => (
            <li key={mark.id} data-kind={mark.kind}>
              {mark.letter && <strong>{mark.letter}</strong>} {mark.words}
              {mark.kind !== "claimed" && (mark.stands ?? "pin") === "pin" && <span class="map-list-where">{coordinates(mark.lat, mark.lon, mark.radiusKm || null)}</span>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
