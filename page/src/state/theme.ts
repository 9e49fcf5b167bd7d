/** Light or dark: as the system has it, until the switch says otherwise. */
import { computed, effect, signal } from "@preact/signals";

export type ThemeChoice = "system" | "light" | "dark";
const KEY = "geosleuth.theme";
const system = matchMedia("(prefers-color-scheme: dark)");
const systemIsDark = signal(system.matches);
system.addEventListener("change", () => (systemIsDark.value = system.matches));

function stored(): ThemeChoice {
  try {
    const found = localStorage.getItem(KEY);
    return found === "light" || found === "dark" ? found : "system";
  } catch {
    return "system";
  }
}

export const themeChoice = signal<ThemeChoice>(stored());
export const theme = computed<"light" | "dark">(() =>
  themeChoice.value === "system" ? (systemIsDark.value ? "dark" : "light") : themeChoice.value,
);

export function chooseTheme(choice: ThemeChoice): void {
  themeChoice.value = choice;
  try {
    if (choice === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
