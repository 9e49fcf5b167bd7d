import { coordinates } from "../format";
import { links, written } from "../map/coordinates";
import { notify } from "../state/announce";
import { t } from "../strings";
import { Icon } from "../ui/Icon";
import { Menu } from "../ui/Menu";

async function copy(words: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(words);
    notify(t("finding.copied", { words }));
  } catch {
    notify(t("finding.notCopied"), { bad: true });
  }
}

interface PointProps {
  lat: number;
  lon: number;
  radiusKm: number | null;
}

/** The coordinates of a finding, to copy. */
export function Coordinates({ lat, lon, radiusKm }: PointProps) {
  const words = coordinates(lat, lon, radiusKm);
  return (
    <span class="coordinates">
      <code>{words}</code>
      <button type="button" class="plain square small" aria-label={t("finding.copy")} title={t("finding.copy")} onClick={() => void copy(words)}>
        <Icon name="copy" size={15} />
      </button>
    </span>
  );
}

/** The point of a finding in the way the reader needs it, and on other maps. */
export function PointMenus({ lat, lon, radiusKm }: PointProps) {
  return (
    <>
      <Menu label={t("finding.formats")} quiet>
        <ul class="formats">
          {written(lat, lon, radiusKm).map(({ name, text }) => (
            <li key={name}>
              <span class="quiet">{t(`coordinates.${name}`)}</span>
              <code>{text}</code>
              <button type="button" class="plain square small" data-closes aria-label={t("coordinates.copy", { name: t(`coordinates.${name}`) })} onClick={() => void copy(text)}>
                <Icon name="copy" size={15} />
              </button>
            </li>
          ))}
        </ul>
      </Menu>
      <Menu label={t("finding.openIn")} icon="link" quiet>
        <p class="menu-note">{t("finding.openWords")}</p>
        <ul class="menu-list">
          {links(lat, lon, radiusKm).map(({ name, href }) => (
            <li key={name}>
              <a href={href} target="_blank" rel="noopener noreferrer">
                {name}
              </a>
            </li>
          ))}
        </ul>
      </Menu>
    </>
  );
}
