import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./Icon";

/** A button that unfolds a small panel; Escape, a choice and a click elsewhere fold it. */
export function Menu(props: { label: string; icon?: IconName; children: ComponentChildren; align?: "start" | "end"; disabled?: boolean; quiet?: boolean }) {
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const panelId = useId();
  useEffect(() => {
    if (!open) return undefined;
    const elsewhere = (event: Event): void => {
      if (event.target instanceof Node && !whole.current?.contains(event.target)) setOpen(false);
    };
    const escape = (event: KeyboardEvent): void => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      setOpen(false);
      whole.current?.querySelector("button")?.focus();
    };
    document.addEventListener("pointerdown", elsewhere);
    document.addEventListener("focusin", elsewhere);
    document.addEventListener("keydown", escape, true);
    return () => {
      document.removeEventListener("pointerdown", elsewhere);
      document.removeEventListener("focusin", elsewhere);
      document.removeEventListener("keydown", escape, true);
    };
  }, [open]);
  return (
    <div class="menu" ref={whole}>
      <button
        type="button"
        class={props.quiet ? "plain" : ""}
        aria-expanded={open}
        aria-controls={panelId}
        disabled={props.disabled ?? false}
        onClick={() => setOpen(!open)}
      >
        {props.icon ? <Icon name={props.icon} /> : null}
        <span>{props.label}</span>
        <Icon name="down" size={14} />
      </button>
      <div id={panelId} class={`menu-panel ${props.align ?? "start"}`} hidden={!open} onClick={(event) => {
        if (event.target instanceof Element && event.target.closest("a, [data-closes]")) setOpen(false);
      }}>
        {open ? props.children : null}
      </div>
    </div>
  );
}
