import { useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { RunShown } from "../api/types";
import { withConsent } from "../state/consent";
import { isActive } from "../state/summary";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Banner, Chip } from "../ui/parts";
import type { Gathered } from "./feedback";

interface FeedbackBarProps {
  run: RunShown;
  gathered: Gathered;
  drawing: boolean;
  onDraw(): void;
  onContinued(run: RunShown): void;
}

/** What was rejected and what else is known, gathered as chips; one button goes on from there. */
export function FeedbackBar({ run, gathered, drawing, onDraw, onContinued }: FeedbackBarProps) {
  const [busy, setBusy] = useState(false);
  const [trouble, setTrouble] = useState<string | null>(null);
  const active = isActive(run);
  const takeUp = run.state === "interrupted" || run.state === "cancelled" || run.state === "failed";
  const ready = !active && !busy && (gathered.count.value > 0 || takeUp);

  const goOn = async (): Promise<void> => {
    if (!ready) return;
    setBusy(true);
    setTrouble(null);
    try {
      const next = await withConsent((hosts) => api.goOn(run.id, gathered.feedback(hosts)));
      if (next !== null) {
        gathered.clear();
        onContinued(next);
      }
    } catch (thrown) {
      setTrouble(troubleOf(thrown).message);
    } finally {
      setBusy(false);
    }
  };

  const area = gathered.area.value;
  return (
    <section class="feedback" aria-label={t("feedback.title")}>
      {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
      <form
        class="feedback-row"
        onSubmit={(event) => {
          event.preventDefault();
          void goOn();
        }}
      >
        <div class="chips">
          {[...gathered.candidates.value].map(([id, name]) => (
            <Chip key={id} label={name} rejects words={t("feedback.notPlace", { name })} onRemove={() => gathered.toggle("candidates", id, name)} />
          ))}
          {[...gathered.clues.value].map(([id, seen]) => (
            <Chip key={id} label={seen} rejects words={t("feedback.notClue", { seen })} onRemove={() => gathered.toggle("clues", id, seen)} />
          ))}
          {[...gathered.texts.value.keys()].map((text) => (
            <Chip key={text} label={text} rejects words={t("feedback.notText", { text })} onRemove={() => gathered.toggle("texts", text, text)} />
          ))}
          {[...gathered.readings.value].map(([key, one]) =>
            one.text === "" ? null : (
              <Chip key={key} label={one.text} words={one.was === "" || one.was === one.text ? t("feedback.reads", { text: one.text }) : t("feedback.corrects", { was: one.was, text: one.text })} onRemove={() => gathered.forget(key)} />
            ),
          )}
          {area ? <Chip label={t("feedback.area")} words={t("feedback.area")} onRemove={() => gathered.draw(null)} /> : null}
          <label class="feedback-hint">
            <span class="sr-only">{t("feedback.hint")}</span>
            <input type="text" value={gathered.hint.value} placeholder={t("feedback.hint")} data-shortcut="hint" maxLength={2000} onInput={(event) => (gathered.hint.value = event.currentTarget.value)} />
          </label>
          <label class="feedback-within">
            <span class="sr-only">{t("feedback.within")}</span>
            <input type="text" value={gathered.within.value} placeholder={t("feedback.within")} maxLength={300} onInput={(event) => gathered.say(event.currentTarget.value)} />
          </label>
        </div>
        <div class="buttons">
          <button type="button" aria-pressed={drawing} data-shortcut="draw" onClick={onDraw}>
            <Icon name="draw" />
            <span>{t("feedback.draw")}</span>
          </button>
          <button type="submit" class="primary" data-shortcut="continue" disabled={!ready} title={active ? t("feedback.waits") : gathered.count.value === 0 && !takeUp ? t("feedback.sayFirst") : ""}>
            {busy ? t("feedback.busy") : t("feedback.continue")}
          </button>
        </div>
      </form>
    </section>
  );
}
