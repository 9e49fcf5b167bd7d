/** Sun and shadows: an object and its shadow drawn in the photo, and where or when they can be. */
import { computed, signal } from "@preact/signals";
import { api, troubleOf } from "../api/client";
import type { NewShadow, ShadowsView } from "../api/types";
import type { Marking, PhotoMark, Share } from "../photo/marking";
import { announce } from "../state/announce";
import { t } from "../strings";

type Part = "object" | "shadow";

function figure(text: string): number | null {
  const value = Number(text.trim().replace(",", "."));
  return text.trim() === "" || !Number.isFinite(value) ? null : value;
}

export class Shadows {
  readonly open = signal(false);
  readonly marking = signal<Part | null>(null);
  readonly lines = signal<Partial<Record<Part, { photo: number; from: Share; to: Share }>>>({});
  readonly ratio = signal("");
  readonly azimuth = signal("");
  readonly time = signal("");
  readonly until = signal("");
  readonly place = signal("");
  /** Whose clocks times without a zone are of. */
  readonly country = signal("");
  readonly more = signal<readonly NewShadow[]>([]);
  readonly found = signal<ShadowsView | null>(null);
  readonly busy = signal(false);
  readonly trouble = signal<string | null>(null);

  readonly photoMarks = computed((): PhotoMark[] => {
    if (!this.open.value) return [];
    const lines = Object.entries(this.lines.value) as [Part, { photo: number; from: Share; to: Share }][];
    return lines.map(([part, line]) => ({ id: part, kind: "line", label: t(`shadow.mark.${part}`), ...line }));
  });

  readonly shapes = computed((): GeoJSON.Feature[] => {
    const area = this.open.value ? this.found.value?.found.area : null;
    return area ? [{ type: "Feature", properties: { tone: "band", opacity: 0.4 }, geometry: area }] : [];
  });

  /** What is complete of the shadow that is being described; null without a time or a sight. */
  readonly current = computed((): NewShadow | null => {
    const ratio = figure(this.ratio.value);
    const azimuth = figure(this.azimuth.value);
    if (this.time.value.trim() === "" || (ratio === null && azimuth === null && this.place.value.trim() === "")) return null;
    return { time: this.time.value.trim(), time_end: this.until.value.trim(), ratio, azimuth_deg: azimuth };
  });

  toggle(): void {
    this.marking.value = null;
    this.open.value = !this.open.value;
  }

  markingOf(photo: number, width: number, height: number): Marking | null {
    const part = this.marking.value;
    if (part === null) return null;
    return {
      kind: "line",
      how: t(`shadow.draw.${part}`),
      onDone: (from, to) => {
        const others = Object.values(this.lines.value).every((one) => one.photo === photo) ? this.lines.value : {};
        this.lines.value = { ...others, [part]: { photo, from, to } };
        this.measure(width, height);
        // The shadow begins where the object stands.
        this.marking.value = part === "object" && !this.lines.value.shadow ? "shadow" : null;
      },
    };
  }

  add(): void {
    const current = this.current.value;
    if (current === null) return;
    this.more.value = [...this.more.value, current];
    this.lines.value = {};
    this.ratio.value = "";
    this.azimuth.value = "";
    this.time.value = "";
    this.until.value = "";
  }

  remove(index: number): void {
    this.more.value = this.more.value.filter((_, at) => at !== index);
  }

  async workOut(): Promise<void> {
    const current = this.current.value;
    const shadows = [...this.more.value, ...(current ? [current] : [])];
    const [lat, lon] = this.place.value.split(",").map((part) => Number(part.trim()));
    const typed = this.place.value.trim() !== "";
    if (typed && !(Number.isFinite(lat) && Number.isFinite(lon))) {
      this.trouble.value = t("shadow.badPlace");
      return;
    }
    this.busy.value = true;
    this.trouble.value = null;
    try {
      const found = await api.shadows(shadows, typed ? { lat: lat ?? 0, lon: lon ?? 0 } : null, this.country.value.trim());
      this.found.value = found;
      announce(found.words[0] ?? "");
    } catch (thrown) {
      this.found.value = null;
      this.trouble.value = troubleOf(thrown).message;
    } finally {
      this.busy.value = false;
    }
  }

  private measure(width: number, height: number): void {
    const { object, shadow } = this.lines.value;
    if (!object || !shadow) return;
    const length = ({ from, to }: { from: Share; to: Share }): number => Math.hypot((to.x - from.x) * width, (to.y - from.y) * height);
    this.ratio.value = (length(shadow) / length(object)).toFixed(2);
  }
}
