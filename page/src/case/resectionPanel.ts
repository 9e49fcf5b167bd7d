/** "Where did I stand?": features marked in a photo and on the map, and what follows from them. */
import { computed, signal } from "@preact/signals";
import { api, troubleOf } from "../api/client";
import type { StandView } from "../api/types";
import type { Spot } from "../map/geometry";
import type { Mark } from "../map/marks";
import type { PhotoMark, Share } from "../photo/marking";
import { announce } from "../state/announce";
import { t } from "../strings";

export interface Feature {
  seen: Share;
  spot: Spot;
}

export class Stand {
  readonly open = signal(false);
  readonly photo = signal(0);
  readonly features = signal<readonly Feature[]>([]);
  /** Marked in the photo, not yet on the map. */
  readonly pending = signal<Share | null>(null);
  readonly marking = signal(false);
  readonly fov = signal("");
  readonly found = signal<StandView | null>(null);
  readonly busy = signal(false);
  readonly trouble = signal<string | null>(null);
  private asked = 0;
  private askedFov = "";

  readonly photoMarks = computed((): PhotoMark[] => {
    if (!this.open.value) return [];
    const seen = [...this.features.value.map((one) => one.seen), ...(this.pending.value ? [this.pending.value] : [])];
    return seen.map((at, index) => ({ id: `stand-${index}`, photo: this.photo.value, kind: "point", from: at, to: at, label: String(index + 1) }));
  });

  readonly mapMarks = computed((): Mark[] => {
    if (!this.open.value) return [];
    const marks = this.features.value.map(({ spot }, index): Mark => {
      const words = t("stand.feature", { n: index + 1 });
      return { ...spot, id: `feature-${index}`, kind: "feature", letter: String(index + 1), name: words, words, radiusKm: 0, strength: 1 };
    });
    const { lat, lon } = this.found.value?.found ?? { lat: null, lon: null };
    if (lat === null || lon === null) return marks;
    const words = t("stand.camera");
    return [...marks, { lat, lon, id: "camera", kind: "camera", letter: "◉", name: words, words, radiusKm: 0, strength: 1 }];
  });

  /** The area, and a line of sight to each feature. */
  readonly shapes = computed((): GeoJSON.Feature[] => {
    const found = this.open.value ? this.found.value?.found : undefined;
    if (!found?.area || found.lat === null || found.lon === null) return [];
    const { lat, lon } = found;
    const sights = found.kind === "fix" ? this.features.value : [];
    return [
      { type: "Feature", properties: { tone: "area" }, geometry: found.area },
      ...sights.map(({ spot }): GeoJSON.Feature => ({
        type: "Feature",
        properties: { tone: "sight" },
        geometry: { type: "LineString", coordinates: [[lon, lat], [spot.lon, spot.lat]] },
      })),
    ];
  });

  constructor(private readonly caseId: string) {}

  /** Begin with another feature: the photo is next. */
  mark(): void {
    this.pending.value = null;
    this.marking.value = true;
  }

  seen(photo: number, at: Share): void {
    if (photo !== this.photo.value) this.features.value = [];
    this.photo.value = photo;
    this.pending.value = at;
    this.marking.value = false;
    announce(t("stand.nowMap"));
  }

  placed(spot: Spot, number: number): void {
    const at = this.pending.value;
    if (at === null) return;
    this.pending.value = null;
    this.features.value = [...this.features.value, { seen: at, spot }];
    void this.workOut(number);
  }

  remove(index: number, number: number): void {
    this.features.value = this.features.value.filter((_, at) => at !== index);
    void this.workOut(number);
  }

  cancel(): void {
    this.marking.value = false;
    this.pending.value = null;
  }

  toggle(): void {
    this.cancel();
    this.open.value = !this.open.value;
  }

  fovChanged(): boolean {
    return this.fov.value.trim() !== this.askedFov;
  }

  /** Ask for the place as soon as there are two features; `number` is the photo's. */
  async workOut(number: number): Promise<void> {
    this.asked += 1;
    const asked = this.asked;
    this.askedFov = this.fov.value.trim();
    this.trouble.value = null;
    if (this.features.value.length < 2) {
      this.found.value = null;
      return;
    }
    this.busy.value = true;
    const fov = Number(this.fov.value.replace(",", "."));
    try {
      const marks = this.features.value.map(({ seen, spot }) => ({ column: seen.x, lat: spot.lat, lon: spot.lon }));
      const found = await api.stand(this.caseId, number, marks, this.fov.value.trim() === "" || !Number.isFinite(fov) ? null : fov);
      if (asked !== this.asked) return;
      this.found.value = found;
      announce(found.words[0] ?? "");
    } catch (thrown) {
      if (asked !== this.asked) return;
      this.found.value = null;
      this.trouble.value = troubleOf(thrown).message;
    } finally {
      if (asked === this.asked) this.busy.value = false;
    }
  }
}
