import type { RunRequest } from "../api/types";
import { Understood, useWeighed } from "../guide/Understood";
import { withoutPart } from "../state/seen";
import { about, settings } from "../state/server";
import { t } from "../strings";
import { Field } from "../ui/Field";

/** What somebody knows already and how they want it done; all of it may stay empty. */
export function Wishes({ value, onChange }: { value: Partial<RunRequest>; onChange(value: Partial<RunRequest>): void }) {
  const set = (change: Partial<RunRequest>): void => onChange({ ...value, ...change });
  const models = about.value?.models ?? [];
  const seen = value.seen ?? "";
  const { found } = useWeighed(seen.trim() === "" ? [] : [seen.trim()]);
  const usual = settings.value?.model ?? "detective";
  return (
    <div class="wishes">
      <Field label={t("wish.hint")} help={t("wish.hintHelp")} value={value.hint ?? ""} onInput={(hint) => set({ hint })} />
      <Field label={t("wish.within")} help={t("wish.withinHelp")} value={value.within ?? ""} onInput={(within) => set({ within })} />
      <Field label={t("wish.seen")} help={t("wish.seenHelp")} value={seen} onInput={(words) => set({ seen: words })} />
      <Understood sightings={found?.sightings ?? []} onDrop={(part) => set({ seen: withoutPart(seen, part) })} onMean={(part, key) => set({ seen: withoutPart(seen, part, key) })} />
      <details class="more">
        <summary>{t("wish.more")}</summary>
        <div class="wishes">
          <Field label={t("wish.taken")} help={t("wish.takenHelp")} value={value.taken ?? ""} onInput={(taken) => set({ taken })} />
          <label class="field">
            <span class="field-label">{t("wish.side")}</span>
            <select
              value={value.drives_on ?? ""}
              onChange={(event) => {
                const side = event.currentTarget.value;
                set({ drives_on: side === "left" || side === "right" ? side : null });
              }}
            >
              <option value="">{t("wish.sideUnknown")}</option>
              <option value="left">{t("wish.sideLeft")}</option>
              <option value="right">{t("wish.sideRight")}</option>
            </select>
          </label>
          <Field
            label={t("wish.model")}
            help={t("wish.modelHelp", { model: usual })}
            value={value.model ?? ""}
            list={models.map((one) => one.model)}
            onInput={(model) => set({ model })}
          />
          <Field
            label={t("wish.parallel")}
            help={t("wish.parallelHelp")}
            type="number"
            min={1}
            max={16}
            value={String(value.parallel ?? 1)}
            onInput={(text) => set({ parallel: Math.max(1, Math.min(16, Number(text) || 1)) })}
          />
          <label class="tick">
            <input type="checkbox" checked={value.force_answer ?? false} onChange={(event) => set({ force_answer: event.currentTarget.checked })} />
            <span>{t("wish.force")}</span>
          </label>
        </div>
      </details>
    </div>
  );
}
