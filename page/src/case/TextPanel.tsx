import { useEffect, useRef, useState } from "preact/hooks";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Empty, Loading } from "../ui/parts";
import { Panel } from "../ui/Panel";
import type { Gathered } from "./feedback";
import type { Line } from "./lines";
import type { Reading } from "./useReading";

interface TextPanelProps {
  reading: Reading;
  gathered: Gathered;
  photos: number;
  silence: string;
  onMark(): void;
}

const FEW = 8;

/** What is written in the photos: click a line to correct it, or draw a box where one was missed. */
export function TextPanel({ reading, gathered, photos, silence, onMark }: TextPanelProps) {
  const { lines, editing } = reading;
  const marking = reading.state === "marking";
  const [all, setAll] = useState(false);
  const shown = all ? lines : lines.filter((line, index) => index < FEW || line.key === editing || line.own);
  return (
    <Panel
      id="text"
      title={t("text.title")}
      count={lines.length}
      aside={
        <button type="button" class="plain small" aria-pressed={marking} onClick={onMark}>
          <Icon name="text" size={15} />
          <span>{marking ? t("action.cancel") : t("text.read")}</span>
        </button>
      }
    >
      {lines.length === 0 ? <Empty>{silence}</Empty> : <p class="quiet">{t("text.lead")}</p>}
      {reading.state === "busy" ? <Loading words={t("text.reading")} /> : null}
      <ul class="text-lines">
        {shown.map((line) =>
          line.key === editing ? (
            <Editor
              key={line.key}
              line={line}
              onDone={(text) => {
                gathered.read(line, text);
                reading.edit(null);
              }}
              onCancel={() => reading.edit(null)}
            />
          ) : (
            <Row key={line.key} line={line} photos={photos} out={gathered.texts.value.has(line.text)} onEdit={() => reading.edit(line.key)} onReject={() => gathered.toggle("texts", line.text, line.text)} />
          ),
        )}
      </ul>
      {lines.length > shown.length ? (
        <button type="button" class="linkish" onClick={() => setAll(true)}>
          {t("text.all", { n: lines.length })}
        </button>
      ) : null}
    </Panel>
  );
}

function Row({ line, photos, out, onEdit, onReject }: { line: Line; photos: number; out: boolean; onEdit(): void; onReject(): void }) {
  return (
    <li class={out ? "text-line out" : "text-line"}>
      <button type="button" class="linkish text-words" title={t("text.edit")} aria-label={t("text.editLine", { text: line.text })} onClick={onEdit}>
        {line.text}
      </button>
      {line.own ? <span class="tag">{line.was === "" ? t("text.own") : line.was === line.text ? t("text.confirmed") : t("text.was", { was: line.was })}</span> : null}
      {photos > 1 ? <span class="quiet">{t("clues.onPhoto", { n: line.photo })}</span> : null}
      <button type="button" class="plain square small" aria-pressed={out} aria-label={t(out ? "text.unreject" : "text.reject", { text: line.text })} title={t(out ? "action.undo" : "text.rejectShort")} onClick={onReject}>
        <Icon name={out ? "undo" : "close"} size={15} />
      </button>
    </li>
  );
}

function Editor({ line, onDone, onCancel }: { line: Line; onDone(text: string): void; onCancel(): void }) {
  const [text, setText] = useState(line.text);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    field.current?.focus({ preventScroll: true });
    field.current?.scrollIntoView({ block: "nearest" });
  }, []);
  return (
    <li class="text-line editing">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (text.trim()) onDone(text.trim());
        }}
        onKeyDown={(event) => {
          if (event.key === "Escape") onCancel();
        }}
      >
        <label>
          <span class="field-help">{line.text === "" ? t("text.unread") : t("text.stands")}</span>
          <input ref={field} type="text" value={text} maxLength={200} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <div class="buttons">
          <button type="submit" class="small primary" disabled={text.trim() === ""}>
            {t("text.use")}
          </button>
          <button type="button" class="small" onClick={onCancel}>
            {t("action.cancel")}
          </button>
        </div>
      </form>
    </li>
  );
}
