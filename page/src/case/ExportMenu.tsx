import { api } from "../api/client";
import { formats } from "../state/server";
import { maybe, t } from "../strings";
import { Menu } from "../ui/Menu";

/** Every format of a result, each with what it is for. */
export function ExportMenu({ runId, disabled }: { runId: string; disabled: boolean }) {
  return (
    <Menu label={t("export.title")} icon="save" align="end" disabled={disabled}>
      <ul class="menu-list">
        {formats().map((format) => (
          <li key={format}>
            <a href={api.fileUrl(runId, format)} download>
              <strong>{maybe(`format.${format}`) ?? format}</strong>
              <span class="quiet">{maybe(`format.${format}.what`) ?? ""}</span>
            </a>
          </li>
        ))}
      </ul>
    </Menu>
  );
}
