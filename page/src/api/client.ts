/** The server's answers, typed; whatever goes wrong is a Trouble with one line for people. */
import { t } from "../strings";
import type {
  AboutShown, Failure, Box, CaseShown, CheckShown, CompareView, Feedback, GuideShown, KeyList, Keeping, MapJobShown, MapOfferShown, MapsShown, PhotoShown, ResultView, RunRequest, RunShown, NewShadow, Point, SettingsShown, ShadowsView, SightingsShown, StandMark, StandView, VideoShown,
} from "./types";

export class Trouble extends Error {
  constructor(
    readonly status: number,
    readonly kind: string,
    message: string,
    readonly hosts: readonly string[] = [],
  ) {
    super(message);
  }

  /** The server could not be reached at all. */
  get gone(): boolean {
    return this.status === 0;
  }

  get needsConsent(): boolean {
    return this.status === 409 && this.hosts.length > 0;
  }
}

/** Called whenever the server wants a token. */
let onSignInWanted: () => void = () => undefined;
export function whenSignInIsWanted(act: () => void): void {
  onSignInWanted = act;
}

/** Called whenever a case or a run is not there. */
let onMissing: () => void = () => undefined;
export function whenSomethingIsMissing(act: () => void): void {
  onMissing = act;
}

export function troubleOf(thrown: unknown): Trouble {
  return thrown instanceof Trouble ? thrown : new Trouble(0, "gone", thrown instanceof Error ? thrown.message : String(thrown));
}

const OF_A_CASE = /^\/api\/(cases|runs)\//;

async function failureOf(response: Response): Promise<Trouble> {
  let told: Partial<Failure["error"]> = {};
  try {
    const body = (await response.json()) as { error?: Partial<Failure["error"]> };
    told = body.error ?? {};
  } catch {
    // Not one of our answers: the status alone must do.
  }
  if (response.status === 401) onSignInWanted();
  return new Trouble(response.status, told.kind ?? "http", told.message ?? t("error.status", { status: response.status }), told.hosts ?? []);
}

export async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (thrown) {
    if (init.signal?.aborted) throw thrown;
    throw new Trouble(0, "gone", t("error.gone"));
  }
  if (response.status === 404 && OF_A_CASE.test(path)) onMissing();
  if (!response.ok) throw await failureOf(response);
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await ask(path, signal ? { signal } : {});
  return (await response.json()) as T;
}

export async function send<T>(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
  const told = body === undefined ? {} : { headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) };
  const response = await ask(path, { method, ...told, ...(signal ? { signal } : {}) });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

const id = encodeURIComponent;

export const api = {
  about: () => get<AboutShown>("/api/about"),
  cases: async (query: string, signal?: AbortSignal, before?: string): Promise<CaseShown[]> => {
    const asked = new URLSearchParams({ ...(query ? { query } : {}), ...(before ? { before } : {}) });
    return (await get<{ cases: CaseShown[] }>(`/api/cases?${asked}`, signal)).cases;
  },
  newCase: (title: string, notes: string) => send<CaseShown>("POST", "/api/cases", { title, notes }),
  case: (caseId: string) => get<CaseShown>(`/api/cases/${id(caseId)}`),
  changeCase: (caseId: string, change: { title?: string; notes?: string }) => send<CaseShown>("PATCH", `/api/cases/${id(caseId)}`, change),
  deleteCase: (caseId: string) => send<void>("DELETE", `/api/cases/${id(caseId)}`),
  addPhoto: async (caseId: string, name: string, photo: Blob): Promise<PhotoShown> => {
    const path = `/api/cases/${id(caseId)}/photos?${new URLSearchParams({ name })}`;
    const response = await ask(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: photo });
    return (await response.json()) as PhotoShown;
  },
  addVideo: async (caseId: string, name: string, video: Blob): Promise<VideoShown[]> => {
    const path = `/api/cases/${id(caseId)}/videos?${new URLSearchParams({ name })}`;
    const response = await ask(path, { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: video });
    return ((await response.json()) as { videos: VideoShown[] }).videos;
  },
  videos: async (caseId: string) => (await get<{ videos: VideoShown[] }>(`/api/cases/${id(caseId)}/videos`)).videos,
  photoUrl: (caseId: string, number: number, size: "thumb" | "view") => `/api/cases/${id(caseId)}/photos/${number}?size=${size}`,
  read: async (caseId: string, number: number, box: Box) => (await send<{ lines: { text: string; box: Box; confidence: number }[] }>("POST", `/api/cases/${id(caseId)}/photos/${number}/read`, { box })).lines,
  stand: (caseId: string, number: number, marks: StandMark[], fov_deg: number | null) => send<StandView>("POST", `/api/cases/${id(caseId)}/photos/${number}/stand`, { marks, fov_deg }),
  start: (caseId: string, request: Partial<RunRequest> & { photos?: number[] }) => send<RunShown>("POST", `/api/cases/${id(caseId)}/runs`, request),
  run: (runId: string) => get<RunShown>(`/api/runs/${id(runId)}`),
  deleteRun: (runId: string) => send<void>("DELETE", `/api/runs/${id(runId)}`),
  eventsUrl: (runId: string, after: number) => `/api/runs/${id(runId)}/events${after >= 0 ? `?after=${after}` : ""}`,
  goOn: (runId: string, feedback: Feedback) => send<RunShown>("POST", `/api/runs/${id(runId)}/continue`, feedback),
  cancel: (runId: string) => send<RunShown>("POST", `/api/runs/${id(runId)}/cancel`, {}),
  result: (runId: string) => get<ResultView>(`/api/runs/${id(runId)}/view`),
  fileUrl: (runId: string, format: string) => `/api/runs/${id(runId)}/files/${id(format)}`,
  pictureUrl: (runId: string, handle: string) => `/api/runs/${id(runId)}/pictures/${id(handle)}`,
  check: (runId: string, lat: number, lon: number) => send<CheckShown>("POST", `/api/runs/${id(runId)}/check`, { lat, lon }),
  compare: (left: string, right: string) => get<CompareView>(`/api/compare?${new URLSearchParams({ left, right })}`),
  guide: () => get<GuideShown>("/api/guide"),
  weigh: (seen: readonly string[], signal: AbortSignal) => send<SightingsShown>("POST", "/api/guide/weigh", { seen }, signal),
  outlines: async (names: string[]) => (await send<{ outlines: Record<string, GeoJSON.Polygon | GeoJSON.MultiPolygon> }>("POST", "/api/outlines", { names })).outlines,
  shadows: (shadows: NewShadow[], place: Point | null, country: string) => send<ShadowsView>("POST", "/api/shadows", { shadows, place, country }),
  maps: () => get<MapsShown>("/api/maps"),
  offerMap: (place: string, host: string) => send<MapOfferShown>("POST", "/api/maps/offers", { place, host }),
  getMap: (place: string, host: string, size_bytes: number) => send<MapJobShown>("POST", "/api/maps", { place, host, size_bytes }),
  cancelMap: () => send<void>("DELETE", "/api/maps/job"),
  settings: () => get<SettingsShown>("/api/settings"),
  changeSettings: (settings: SettingsShown) => send<SettingsShown>("PUT", "/api/settings", settings),
  disk: () => get<{ bytes: number; quota_mb: number | null }>("/api/disk"),
  wipe: () => send<{ cases: number }>("POST", "/api/wipe", { confirm: "delete all cases" }),
  keys: () => get<KeyList>("/api/keys"),
  setKey: (service: string, key: string, keep: Keeping) => send<void>("PUT", `/api/keys/${id(service)}`, { key, keep }),
  deleteKey: (service: string) => send<void>("DELETE", `/api/keys/${id(service)}`),
  signIn: (token: string) => send<void>("POST", "/api/session", { token }),
  signOut: () => send<void>("DELETE", "/api/session"),
};
