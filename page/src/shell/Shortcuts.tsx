import { useEffect } from "preact/hooks";
import { go } from "../router";
import { chooseTheme, theme } from "../state/theme";
import { t, type TextKey } from "../strings";
import { Dialog } from "../ui/Dialog";

/** Keys that press the element of this mark, wherever it is shown. */
const MARKED: Readonly<Record<string, string>> = {
  "/": "search", u: "upload", h: "hint", d: "draw", p: "pin", r: "report", e: "export", x: "cancel",
};

const LISTED: readonly (readonly [string, TextKey])[] = [
  ["?", "keys.help"],
  ["g", "keys.home"],
  ["s", "keys.settings"],
  ["t", "keys.theme"],
  ["/", "keys.search"],
  ["u", "keys.upload"],
  ["h", "keys.hint"],
  ["d", "keys.draw"],
  ["p", "keys.pin"],
  ["r", "keys.report"],
  ["x", "keys.cancel"],
  ["Ctrl Enter", "keys.continue"],
  ["Esc", "keys.escape"],
];

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

function press(mark: string): boolean {
  const found = document.querySelector<HTMLElement>(`[data-shortcut="${mark}"]`);
  if (!found) return false;
  found.focus();
  if (!typing(found)) found.click();
  return true;
}

export function useShortcuts(onHelp: () => void): void {
  useEffect(() => {
    const act = (event: KeyboardEvent): void => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        if (press("continue")) event.preventDefault();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || document.querySelector("dialog[open]")) return;
      const mark = MARKED[event.key];
      if (event.key === "?") onHelp();
      else if (event.key === "g") go({ screen: "home" });
      else if (event.key === "s") go({ screen: "settings" });
      else if (event.key === "t") chooseTheme(theme.value === "dark" ? "light" : "dark");
      else if (mark === undefined || !press(mark)) return;
      event.preventDefault();
    };
    document.addEventListener("keydown", act);
    return () => document.removeEventListener("keydown", act);
  }, []);
}

export function Shortcuts({ onClose }: { onClose(): void }) {
  return (
    <Dialog title={t("keys.title")} onClose={onClose}>
      <dl class="shortcuts">
        {LISTED.map(([key, words]) => (
          <div key={key}>
            <dt>
              {key.split(" ").map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{t(words)}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">{t("keys.map")}</p>
    </Dialog>
  );
}
