/** Findings of a batch under review, as the server tells them. */
import { get, send } from "./client";
import type { CountsShown, FilesShown, PlaceFound, ReviewedShown, ReviewedWhole, ReviewShown } from "./schema";

export type Verdict = ReviewedShown["verdict"];

/** Which photos: by their ids, or all of a kind. */
export type Chosen = { ids: string[] } | { all: { verdict: Verdict | null; least: number | null } };

export const reviewApi = {
  part: (verdict: Verdict | null, least: number | null, offset: number, limit: number) => {
    const asked = new URLSearchParams({ offset: String(offset), limit: String(limit), ...(verdict ? { verdict } : {}), ...(least ? { least: String(least) } : {}) });
    return get<ReviewShown>(`/api/review?${asked}`);
  },
  one: (id: string) => get<ReviewedWhole>(`/api/review/${id}`),
  pictureUrl: (id: string, size: "thumb" | "view") => `/api/review/${id}/picture?size=${size}`,
  reportUrl: (id: string) => `/api/review/${id}/report`,
  decide: (chosen: Chosen, verdict: Verdict, place: PlaceFound | null = null) => {
    const at = place === null ? {} : { lat: place.lat, lon: place.lon, country: place.country, region: place.region, precise: place.precise };
    return send<CountsShown>("POST", "/api/review/decisions", { ...chosen, verdict, ...at });
  },
  places: async (asked: { query: string } | { lat: number; lon: number }) => (await send<{ places: PlaceFound[] }>("POST", "/api/review/places", asked)).places,
  write: (sidecars: boolean, copies: boolean) => send<FilesShown>("POST", "/api/review/files", { sidecars, copies }),
};
