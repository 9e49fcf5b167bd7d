import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../strings";
import { Icon } from "./Icon";

/** A modal window; Escape and a click beside it close it, and focus goes back to where it was. */
export function Dialog(props: { title: string; onClose(): void; children: ComponentChildren; wide?: boolean }) {
  const frame = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const { onClose } = props;
  useEffect(() => {
    const before = document.activeElement;
    frame.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={frame}
      class={props.wide ? "dialog wide" : "dialog"}
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={(event) => {
        if (event.target === frame.current) onClose();
      }}
    >
      <div class="dialog-body">
        <header class="dialog-head">
          <h2 id={titleId}>{props.title}</h2>
          <button type="button" class="plain square" aria-label={t("action.close")} onClick={onClose}>
            <Icon name="close" />
          </button>
        </header>
        {props.children}
      </div>
    </dialog>
  );
}

/** A question that needs a yes: the words say what happens, the button says it again. */
export function Confirm(props: { title: string; words: string[]; yes: string; danger?: boolean; busy?: boolean; onYes(): void; onClose(): void }) {
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      {props.words.map((line) => (
        <p key={line}>{line}</p>
      ))}
      <div class="buttons end">
        <button type="button" onClick={props.onClose}>
          {t("action.cancel")}
        </button>
        <button type="button" class={props.danger ? "danger" : "primary"} disabled={props.busy ?? false} onClick={props.onYes}>
          {props.yes}
        </button>
      </div>
    </Dialog>
  );
}
