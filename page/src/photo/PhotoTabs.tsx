import { useRef } from "preact/hooks";
import { t } from "../strings";
import type { ShownPhoto } from "./PhotoView";

interface PhotoTabsProps {
  id: string;
  photos: ShownPhoto[];
  shown: number;
  onShow(n: number): void;
  /** The photo on which something is pointed out right now. */
  pointed: number | null;
}

/** Several photos of one place: arrows, Home and End go from one to the next. */
export function PhotoTabs({ id, photos, shown, onShow, pointed }: PhotoTabsProps) {
  const row = useRef<HTMLDivElement>(null);

  function key(event: KeyboardEvent): void {
    const last = photos.length - 1;
    const next = { ArrowRight: shown === last ? 0 : shown + 1, ArrowLeft: shown === 0 ? last : shown - 1, Home: 0, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    onShow(next);
    row.current?.querySelectorAll<HTMLButtonElement>("[role=tab]")[next]?.focus();
  }

  return (
    <div class="photo-tabs" role="tablist" aria-label={t("photo.tabs")} ref={row} onKeyDown={key}>
      {photos.map((photo, index) => (
        <button
          key={photo.src}
          type="button"
          role="tab"
          id={`${id}-tab-${index}`}
          aria-controls={`${id}-panel`}
          aria-selected={index === shown}
          tabIndex={index === shown ? 0 : -1}
          class={`photo-tab${index === pointed && index !== shown ? " pointed" : ""}`}
          title={photo.alt}
          aria-label={t("photo.tab", { n: index + 1, of: photos.length, alt: photo.alt })}
          onClick={() => onShow(index)}
        >
          <img src={photo.src} alt="" loading="lazy" draggable={false} />
          <span aria-hidden="true">{index + 1}</span>
        </button>
      ))}
    </div>
  );
}
