import type { Question } from "../state/consent";
import { counted, t } from "../strings";
import { Dialog } from "../ui/Dialog";
import { Icon } from "../ui/Icon";

/** Names the machines that photos would go to, and asks. */
export function Consent({ question }: { question: Question }) {
  return (
    <Dialog title={t("consent.title")} onClose={() => question.answer(false)}>
      <p>{counted("consent.words", question.hosts.length)}</p>
      <ul class="hosts">
        {question.hosts.map((host) => (
          <li key={host}>
            <Icon name="link" />
            <code>{host}</code>
          </li>
        ))}
      </ul>
      <p class="quiet">{question.words}</p>
      <p class="quiet">{t("consent.what")}</p>
      <div class="buttons end">
        <button type="button" onClick={() => question.answer(false)}>
          {t("consent.no")}
        </button>
        <button type="button" class="primary" onClick={() => question.answer(true)}>
          {t("consent.yes")}
        </button>
      </div>
    </Dialog>
  );
}
