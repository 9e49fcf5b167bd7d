import type { CheckShown } from "../api/types";
import { coordinates } from "../format";
import { t } from "../strings";
import { Icon, type IconName } from "../ui/Icon";
import { Loading } from "../ui/parts";

const LOOK: Record<CheckShown["verdict"], { kind: string; icon: IconName }> = {
  for: { kind: "good", icon: "check" },
  against: { kind: "bad", icon: "close" },
  undecided: { kind: "open", icon: "help" },
};

/** The verdict on a place that somebody claims, and why. */
export function CheckPlace({ checked, busy, onClose }: { checked: CheckShown | null; busy: boolean; onClose(): void }) {
  if (busy) return <Loading words={t("check.busy")} />;
  if (checked === null) return null;
  const { kind, icon } = LOOK[checked.verdict];
  const where = coordinates(checked.claimed.lat, checked.claimed.lon);
  const heads = {
    for: t("check.for", { where }),
    against: t("check.against", { where }),
    undecided: t("check.undecided", { where }),
  };
  return (
    <section class={`panel check ${kind}`} aria-label={t("check.title")}>
      <div class="check-head">
        <Icon name={icon} />
        <h3>{heads[checked.verdict]}</h3>
        <button type="button" class="plain square small" aria-label={t("action.close")} onClick={onClose}>
          <Icon name="close" size={15} />
        </button>
      </div>
      <p>{checked.reason}</p>
      {checked.speaks_for.length > 0 ? (
        <div class="side for">
          <span class="side-title">{t("candidates.for")}</span>
          <ul class="lines">
            {checked.speaks_for.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      ) : null}
      {checked.speaks_against.length > 0 ? (
        <div class="side against">
          <span class="side-title">{t("candidates.against")}</span>
          <ul class="lines">
            {checked.speaks_against.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        </div>
      ) : null}
    </section>
  );
}
