/** What is shown of the batch, what is selected, and what the person decides. */
import { computed, signal } from "@preact/signals";
import { troubleOf } from "../api/client";
import { reviewApi, type Chosen, type Verdict } from "../api/review";
import type { PlaceFound, ReviewedShown, ReviewShown } from "../api/types";
import { announce } from "../state/announce";
import { t } from "../strings";

const PAGE = 60;

export class ReviewState {
  readonly view = signal<ReviewShown | null>(null);
  readonly verdict = signal<Verdict | null>(null);
  readonly least = signal<number | null>(null);
  readonly current = signal<string | null>(null);
  readonly selected = signal<ReadonlySet<string>>(new Set());
  /** Everything that matches is selected, also what is not listed yet. */
  readonly all = signal(false);
  readonly trouble = signal<string | null>(null);
  readonly busy = signal(false);
  readonly correcting = signal(false);
  /** Counts up with every decision, so that details are asked for anew. */
  readonly changes = signal(0);
  readonly photo = computed<ReviewedShown | null>(() => this.view.value?.photos.find((one) => one.id === this.current.value) ?? null);
  readonly chosenCount = computed(() => (this.all.value ? (this.view.value?.matching ?? 0) : this.selected.value.size));

  async load(): Promise<void> {
    await this.act(async () => {
      const listed = Math.max(PAGE, this.view.value?.photos.length ?? 0);
      this.view.value = await reviewApi.part(this.verdict.value, this.least.value, 0, Math.min(500, listed));
      if (this.photo.value === null) this.current.value = this.view.value.photos[0]?.id ?? null;
    });
  }

  async more(): Promise<void> {
    const before = this.view.value;
    if (before === null) return;
    await this.act(async () => {
      const next = await reviewApi.part(this.verdict.value, this.least.value, before.photos.length, PAGE);
      this.view.value = { ...next, photos: [...before.photos, ...next.photos] };
    });
  }

  async show(verdict: Verdict | null, least: number | null): Promise<void> {
    this.verdict.value = verdict;
    this.least.value = least;
    this.unselect();
    this.view.value = this.view.value && { ...this.view.value, photos: [] };
    await this.load();
  }

  /** The photo so many places further down. */
  step(by: number): void {
    const photos = this.view.value?.photos ?? [];
    const at = photos.findIndex((one) => one.id === this.current.value);
    const next = photos[Math.max(0, Math.min(photos.length - 1, at + by))];
    if (!next) return;
    this.open(next.id);
    announce(next.place || next.name);
  }

  open(id: string): void {
    this.current.value = id;
    this.correcting.value = false;
  }

  toggle(id: string): void {
    const next = new Set(this.all.value ? (this.view.value?.photos ?? []).map((one) => one.id) : this.selected.value);
    if (next.has(id)) next.delete(id);
    else next.add(id);
    this.all.value = false;
    this.selected.value = next;
  }

  selectAll(): void {
    this.all.value = true;
    this.selected.value = new Set();
  }

  unselect(): void {
    this.all.value = false;
    this.selected.value = new Set();
  }

  isSelected(id: string): boolean {
    return this.all.value || this.selected.value.has(id);
  }

  /** Decide of what is selected, or else of the photo that is shown, and go on to the next. */
  async decide(verdict: Verdict, place: PlaceFound | null = null): Promise<void> {
    const one = this.current.value;
    const many = this.chosenCount.value > 0 && place === null;
    const chosen: Chosen | null = !many
      ? one === null ? null : { ids: [one] }
      : this.all.value ? { all: { verdict: this.verdict.value, least: this.least.value } } : { ids: [...this.selected.value] };
    if (chosen === null) return;
    const next = many || place !== null || verdict === "open" ? one : this.following();
    await this.act(async () => {
      await reviewApi.decide(chosen, verdict, place);
      announce(t(`review.say.${verdict}`));
      this.unselect();
      // Who has opened another photo meanwhile stays there: the next decision is about what is shown.
      if (this.current.value === one && next !== null) this.open(next);
      this.changes.value += 1;
    });
    await this.load();
  }

  /** The next photo that nobody has decided of yet, or else the next one. */
  private following(): string | null {
    const photos = this.view.value?.photos ?? [];
    const at = photos.findIndex((one) => one.id === this.current.value);
    const after = photos.slice(at + 1);
    return (after.find((one) => one.verdict === "open") ?? after[0])?.id ?? this.current.value;
  }

  private async act(work: () => Promise<void>): Promise<void> {
    this.busy.value = true;
    this.trouble.value = null;
    try {
      await work();
    } catch (thrown) {
      this.trouble.value = troubleOf(thrown).message;
    } finally {
      this.busy.value = false;
    }
  }
}
