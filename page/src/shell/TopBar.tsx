import { hashOf, route } from "../router";
import { about, settings, signedIn, signInWanted } from "../state/server";
import { api } from "../api/client";
import { chooseTheme, theme } from "../state/theme";
import { t } from "../strings";
import { Icon } from "../ui/Icon";

export function TopBar({ onHelp }: { onHelp(): void }) {
  const here = route.value.screen;
  const next = theme.value === "dark" ? "light" : "dark";
  const leave = async (): Promise<void> => {
    await api.signOut();
    signedIn.value = false;
    signInWanted.value = true;
  };
  return (
    <header class="topbar">
      <a class="brand" href={hashOf({ screen: "home" })}>
        <svg class="brand-mark" viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
          <circle cx="10.500" cy="10.500" r="6.500" fill="none" stroke="currentColor" stroke-width="2" />
          <path d="M15.500 15.500L21 21" stroke="currentColor" stroke-width="2.600" stroke-linecap="round" />
          <circle class="brand-dot" cx="10.500" cy="10.500" r="2.200" />
        </svg>
        <span>{t("app.name")}</span>
      </a>
      <nav class="topnav" aria-label={t("shell.nav")}>
        <a href={hashOf({ screen: "home" })} aria-current={here === "home" ? "page" : undefined}>
          {t("shell.cases")}
        </a>
        <a href={hashOf({ screen: "see" })} aria-current={here === "see" ? "page" : undefined}>
          {t("shell.see")}
        </a>
        {about.value?.review ? (
          <a href={hashOf({ screen: "review" })} aria-current={here === "review" ? "page" : undefined}>
            {t("shell.review")}
          </a>
        ) : null}
        <a href={hashOf({ screen: "settings" })} aria-current={here === "settings" ? "page" : undefined}>
          {t("shell.settings")}
        </a>
      </nav>
      <div class="topbar-end">
        {settings.value === null ? null : (
          <a class={`reach ${settings.value.offline ? "" : "on"}`} href={hashOf({ screen: "settings" })} title={settings.value.offline ? t("shell.offlineLong") : t("shell.onlineLong")}>
            <span class="reach-dot" aria-hidden="true" />
            <span class="reach-word">{settings.value.offline ? t("shell.offline") : t("shell.online")}</span>
          </a>
        )}
        <button type="button" class="plain square" aria-label={next === "dark" ? t("shell.toDark") : t("shell.toLight")} onClick={() => chooseTheme(next)}>
          <Icon name={next === "dark" ? "moon" : "sun"} />
        </button>
        <button type="button" class="plain square shell-help" aria-label={t("shell.help")} title={t("shell.help")} onClick={onHelp}>
          <Icon name="help" />
        </button>
        {signedIn.value ? (
          <button type="button" class="plain" onClick={() => void leave()}>
            {t("shell.signOut")}
          </button>
        ) : null}
      </div>
    </header>
  );
}
