/** Findings of a batch under review, as the server tells them. */
import { get, send } from "./client";
import type { AreaKind } from "./types";

export type Verdict = "open" | "confirmed" | "corrected" | "rejected";

/** A place that was meant; its names go into what is written. */
export interface PlaceFound {
  lat: number;
  lon: number;
  words: string;
  country: string | null;
  region: string | null;
  precise: string | null;
  /** What it is, such as city or region; where it was looked up by name. */
  kind?: string | null;
}

export interface Reviewed {
  id: string;
  name: string;
  copies: number;
  status: string;
  place: string;
  lat: number | null;
  lon: number | null;
  radius_km: number | null;
  probability: number | null;
  area: AreaKind | null;
  conflicts: boolean;
  /** How much later than it the nearest located photo was taken; earlier: negative. */
  lead_minutes: number | null;
  verdict: Verdict;
  at: PlaceFound | null;
}

export interface FileClaim {
  source: "file" | "sidecar";
  lat: number | null;
  lon: number | null;
  place: string | null;
  estimated: boolean;
  trouble: string | null;
}

export interface ReviewedWhole extends Reviewed {
  explanation: string;
  claims: FileClaim[];
  report: boolean;
}

export interface ReviewView {
  name: string;
  total: number;
  matching: number;
  counts: Record<Verdict, number>;
  photos: Reviewed[];
}

export interface Written {
  sidecars: number;
  copies: number;
  kept: number;
  removed: number;
  /** The first of the files that were left as they are. */
  left: string[];
  troubles: string[];
}

/** Which photos: by their ids, or all of a kind. */
export type Chosen = { ids: string[] } | { all: { verdict: Verdict | null; least: number | null } };

export const reviewApi = {
  part: (verdict: Verdict | null, least: number | null, offset: number, limit: number) => {
    const asked = new URLSearchParams({ offset: String(offset), limit: String(limit), ...(verdict ? { verdict } : {}), ...(least ? { least: String(least) } : {}) });
    return get<ReviewView>(`/api/review?${asked}`);
  },
  one: (id: string) => get<ReviewedWhole>(`/api/review/${id}`),
  pictureUrl: (id: string, size: "thumb" | "view") => `/api/review/${id}/picture?size=${size}`,
  reportUrl: (id: string) => `/api/review/${id}/report`,
  decide: (chosen: Chosen, verdict: Verdict, place: PlaceFound | null = null) => {
    const at = place === null ? {} : { lat: place.lat, lon: place.lon, country: place.country, region: place.region, precise: place.precise };
    return send<Record<Verdict, number>>("POST", "/api/review/decisions", { ...chosen, verdict, ...at });
  },
  places: async (asked: { query: string } | { lat: number; lon: number }) => (await send<{ places: PlaceFound[] }>("POST", "/api/review/places", asked)).places,
  write: (sidecars: boolean, copies: boolean) => send<Written>("POST", "/api/review/files", { sidecars, copies }),
};
