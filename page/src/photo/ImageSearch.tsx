import { notify } from "../state/announce";
import { t } from "../strings";
import { Menu } from "../ui/Menu";

const SERVICES = [
  { name: "Google Lens", href: "https://images.google.com/" },
  { name: "Yandex", href: "https://yandex.com/images/" },
  { name: "Bing", href: "https://www.bing.com/visualsearch" },
  { name: "TinEye", href: "https://tineye.com/" },
] as const;

/** Clipboards take PNG alone. */
async function asPng(src: string): Promise<Blob> {
  const picture = await createImageBitmap(await (await fetch(src, { credentials: "same-origin" })).blob());
  const canvas = new OffscreenCanvas(picture.width, picture.height);
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  return await canvas.convertToBlob({ type: "image/png" });
}

async function search(src: string, href: string): Promise<void> {
  try {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": await asPng(src) })]);
    notify(t("imageSearch.copied"));
  } catch {
    notify(t("imageSearch.notCopied"), { bad: true });
  }
  window.open(href, "_blank", "noopener,noreferrer");
}

/** Copies the photo and opens a search; the person pastes it there, and nothing is sent before. */
export function ImageSearch({ src }: { src: string }) {
  return (
    <Menu label={t("imageSearch.title")} icon="search" quiet>
      <p class="menu-note">{t("imageSearch.words")}</p>
      <ul class="menu-list">
        {SERVICES.map(({ name, href }) => (
          <li key={name}>
            <button type="button" class="plain" data-closes onClick={() => void search(src, href)}>
              {name}
            </button>
          </li>
        ))}
      </ul>
    </Menu>
  );
}
