import { useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import { meet } from "../state/server";
import { t } from "../strings";
import { Field } from "../ui/Field";
import { Banner } from "../ui/parts";

/** A server beyond this machine wants a token. */
export function SignIn() {
  const [token, setToken] = useState("");
  const [trouble, setTrouble] = useState<string | null>(null);
  const enter = async (): Promise<void> => {
    try {
      await api.signIn(token);
      await meet();
    } catch (thrown) {
      const told = troubleOf(thrown);
      setTrouble(told.status === 401 || told.status === 403 ? t("signin.wrong") : told.message);
    }
  };
  return (
    <section class="signin" aria-labelledby="signin-title">
      <h1 id="signin-title">{t("signin.title")}</h1>
      <p class="lead">{t("signin.lead")}</p>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void enter();
        }}
      >
        <Field label={t("signin.token")} type="password" autocomplete="current-password" value={token} onInput={setToken} />
        {trouble === null ? null : <Banner kind="bad">{trouble}</Banner>}
        <div class="buttons">
          <button type="submit" class="primary" disabled={token === ""}>
            {t("signin.enter")}
          </button>
        </div>
      </form>
    </section>
  );
}
