import type { ComponentChildren } from "preact";
import { t } from "../strings";

interface ZoomButtonsProps {
  /** What is zoomed: the map, the photo. */
  what: string;
  onZoom(by: number): void;
  onFit(): void;
  fitWords: string;
  children?: ComponentChildren;
}

/** Nearer, farther and all of it; for the map and for photos alike. */
export function ZoomButtons({ what, onZoom, onFit, fitWords, children }: ZoomButtonsProps) {
  return (
    <div class="zoom-buttons" role="group" aria-label={t("zoom.title", { what })}>
      <button type="button" class="square" aria-label={t("zoom.in", { what })} title={t("zoom.in", { what })} onClick={() => onZoom(1)}>
        <Stroke d="M12 6v12M6 12h12" />
      </button>
      <button type="button" class="square" aria-label={t("zoom.out", { what })} title={t("zoom.out", { what })} onClick={() => onZoom(-1)}>
        <Stroke d="M6 12h12" />
      </button>
      <button type="button" class="square" aria-label={fitWords} title={fitWords} onClick={onFit}>
        <Stroke d="M5 9V5h4M15 5h4v4M19 15v4h-4M9 19H5v-4" />
      </button>
      {children}
    </div>
  );
}

function Stroke({ d }: { d: string }) {
  return (
    <svg width="18" height="18" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={d} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}
