import { t } from "../strings";
import { Icon } from "../ui/Icon";

export type Area = GeoJSON.Polygon | GeoJSON.MultiPolygon;

/** The area that was worked out, as the area of the next run. */
export function OnlyThere({ area, onArea }: { area: GeoJSON.Geometry | null; onArea(area: Area): void }) {
  if (area === null || (area.type !== "Polygon" && area.type !== "MultiPolygon")) return null;
  return (
    <div class="buttons">
      <button type="button" class="small" onClick={() => onArea(area)}>
        <Icon name="draw" size={16} />
        <span>{t("area.only")}</span>
      </button>
    </div>
  );
}
