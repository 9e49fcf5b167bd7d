import type { ComponentChildren } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./Icon";

const GAP_PX = 8;
const BAR_PX = 56;

/** A button that unfolds a small panel; Escape, a choice and a click elsewhere fold it. */
export function Menu(props: { label: string; icon?: IconName; children: ComponentChildren; align?: "start" | "end"; disabled?: boolean; quiet?: boolean }) {
  const [open, setOpen] = useState(false);
  const whole = useRef<HTMLDivElement>(null);
  const panelId = useId();
  const panel = useRef<HTMLDivElement>(null);
  const [above, setAbove] = useState(false);
  useLayoutEffect(() => {
    if (!open || panel.current === null || whole.current === null) return setAbove(false);
    // The bar at the bottom lies over the page; a panel that would reach under it unfolds upwards where there is room.
    const floor = document.querySelector(".feedback")?.getBoundingClientRect().top ?? window.innerHeight;
    const button = whole.current.getBoundingClientRect();
    const height = panel.current.offsetHeight;
    setAbove(button.bottom + height + GAP_PX > Math.min(floor, window.innerHeight) && button.top - height - GAP_PX > BAR_PX);
  }, [open]);
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
      <div ref={panel} id={panelId} class={`menu-panel ${props.align ?? "start"} ${above ? "above" : ""}`} hidden={!open} onClick={(event) => {
        if (event.target instanceof Element && event.target.closest("a, [data-closes]")) setOpen(false);
      }}>
        {open ? props.children : null}
      </div>
    </div>
  );
}
