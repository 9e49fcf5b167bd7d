/** Small things that several screens show. */
import type { ComponentChildren } from "preact";
import { t } from "../strings";
import { Icon, type IconName } from "./Icon";

/** A share as a bar; the number beside it says the same. */
export function Bar({ share, kind = "" }: { share: number; kind?: string }) {
  return (
    <span class={`bar ${kind}`} aria-hidden="true">
      <span class="bar-fill" style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }} />
    </span>
  );
}

/** Twenty findings like this one: the filled ones would be right. */
export function Odds({ probability }: { probability: number }) {
  const held = Math.min(20, Math.max(1, Math.round(probability * 20)));
  const words = t("finding.odds", { n: held });
  return (
    <svg class="odds" viewBox="0 0 248 12" role="img" aria-label={words}>
      <title>{words}</title>
      {Array.from({ length: 20 }, (_, index) => (
        <circle key={index} class={index < held ? "held" : "missed"} cx={6 + index * 12.4} cy={6} r={4.2} />
      ))}
    </svg>
  );
}

/** Something that was said; `rejects` where it rules something out. */
export function Chip({ words, label, rejects = false, onRemove }: { words: string; label: string; rejects?: boolean; onRemove(): void }) {
  return (
    <span class={rejects ? "chip rejects" : "chip"} title={words}>
      <span class="chip-words">{words}</span>
      <button type="button" class="plain square small" aria-label={t("action.takeBack", { what: label })} onClick={onRemove}>
        <Icon name="close" size={13} />
      </button>
    </span>
  );
}

export function Banner({ kind, icon, children }: { kind: "bad" | "caution" | "info" | "good"; icon?: IconName; children: ComponentChildren }) {
  return (
    <div class={`banner ${kind}`} role={kind === "bad" ? "alert" : undefined}>
      <Icon name={icon ?? (kind === "good" ? "check" : "warn")} />
      <div class="banner-words">{children}</div>
    </div>
  );
}

export function Loading({ words }: { words?: string }) {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" />
      {words ?? t("state.loading")}
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}
