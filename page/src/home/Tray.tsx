import { useState } from "preact/hooks";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { isVideo } from "../video/videos";
import type { Chosen } from "./intake";

/** The photos that were chosen and not sent yet. */
export function Tray({ photos, refused, onRemove, onUndrawn, onMore }: { photos: readonly Chosen[]; refused: ReadonlySet<number>; onRemove(photo: Chosen): void; onUndrawn(photo: Chosen): void; onMore(): void }) {
  // HEIC and TIFF among them: the server reads more kinds than a browser draws.
  const [undrawn, setUndrawn] = useState<ReadonlySet<number>>(new Set());
  return (
    <ul class="tray" aria-label={t("home.chosen")}>
      {photos.map((photo) => (
        <li key={photo.key} class={`tray-photo ${refused.has(photo.key) ? "refused" : ""}`}>
          {isVideo(photo.file) ? (
            <span class="tray-video">
              <Icon name="play" size={28} />
              {photo.file.name}
            </span>
          ) : undrawn.has(photo.key) ? (
            <span class="tray-video">
              <Icon name="photo" size={28} />
              {photo.file.name}
            </span>
          ) : (
            <img
              src={photo.preview}
              alt={photo.file.name}
              onError={() => {
                setUndrawn((before) => new Set(before).add(photo.key));
                onUndrawn(photo);
              }}
            />
          )}
          {refused.has(photo.key) ? <span class="tray-refused">{t("home.refusedShort")}</span> : null}
          <button type="button" class="square small onphoto" aria-label={t("home.remove", { name: photo.file.name })} onClick={() => onRemove(photo)}>
            <Icon name="close" size={14} />
          </button>
        </li>
      ))}
      <li>
        <button type="button" class="tray-more" onClick={onMore}>
          <Icon name="plus" />
          <span>{t("home.more")}</span>
        </button>
      </li>
    </ul>
  );
}
