import { reviewApi } from "../api/review";
import type { ReviewedShown } from "../api/types";
import { sureWords } from "../state/summary";
import { t } from "../strings";

/** One photo of the list. */
export function Row({ one, current, selected, onOpen, onSelect }: { one: ReviewedShown; current: boolean; selected: boolean; onOpen(): void; onSelect(): void }) {
  const place = one.at?.words || one.place || one.name;
  return (
    <li class={`review-row ${current ? "current" : ""} ${one.verdict}`} data-id={one.id}>
      <input type="checkbox" checked={selected} aria-label={t("review.select", { name: one.name })} onChange={onSelect} />
      <button type="button" class="plain review-open" aria-current={current ? "true" : undefined} onClick={onOpen}>
        <img src={reviewApi.pictureUrl(one.id, "thumb")} alt="" loading="lazy" />
        <span class="review-words">
          <span class="review-place">{place}</span>
          <span class="quiet">{one.lat === null ? t("review.unlocated") : sureWords(one)}</span>
          {one.lead_minutes === null ? null : <span class="review-gap">{t(one.lead_minutes < 0 ? "review.gapBefore" : "review.gapAfter", { gap: t("figure.wholeMin", { min: Math.abs(one.lead_minutes) }) })}</span>}
          {place === one.name ? null : <span class="review-name">{one.name}</span>}
        </span>
        <span class={`review-badge ${one.verdict}`}>{t(`review.verdict.${one.verdict}`)}</span>
      </button>
    </li>
  );
}
