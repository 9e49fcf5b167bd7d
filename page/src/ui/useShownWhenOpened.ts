import type { RefObject } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** A panel that scrolls into view when it opens: all of it where it fits, else from its top on. */
export function useShownWhenOpened(): RefObject<HTMLElement | null> {
  const panel = useRef<HTMLElement>(null);
  useEffect(() => {
    const shown = panel.current;
    if (shown === null) return;
    const room = innerHeight - parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop || "0") - parseFloat(getComputedStyle(shown).scrollMarginBottom);
    shown.scrollIntoView({ block: shown.offsetHeight > room ? "start" : "nearest" });
  }, []);
  return panel;
}
