/**
 * What the server says and takes, as JSON. Latitude comes before longitude. Whatever was read in a photo or said by a
 * model is plain text.
 */
import type { AreaKind } from "./views";

export type * from "./views";

export type RunState = "queued" | "running" | "done" | "failed" | "cancelled" | "interrupted";
export type Granularity = "country" | "region" | "city" | "street" | "exact";

export interface Point {
  lat: number;
  lon: number;
}

/** Times are seconds since 1970. */
export interface PhotoRow {
  number: number;
  name: string;
  bytes: number;
  width: number;
  height: number;
  format: string;
  kind: string;
  sha256: string;
  added: number;
  /** What the picture looks like ("screenshot", "document", "drawing"); null for a photograph. */
  not_a_photo: string | null;
}

/** A place that a video shows: from when to when, in seconds, its frames, and the run that locates it. */
export interface VideoPlace {
  spans: [number, number][];
  frames: { photo: number; seconds: number; reads: string[] }[];
  run: string | null;
}

export interface VideoRow {
  name: string;
  sha256: string;
  seconds: number;
  width: number;
  height: number;
  scenes: number;
  notes: string[];
  places: VideoPlace[];
}

export interface AnswerSummary {
  place: string | null;
  lat: number | null;
  lon: number | null;
  radius_km: number | null;
  probability: number | null;
  area?: AreaKind | null;
}

export interface RunRow {
  id: string;
  case: string;
  parent: string | null;
  state: RunState;
  request: RunRequest;
  granularity: Granularity;
  photos: number[];
  created: number;
  started: number | null;
  ended: number | null;
  answer: AnswerSummary | null;
  trouble: string | null;
  /** How many runs are before it while it waits, itself counted. */
  position: number | null;
  rejected: { clues?: string[]; texts?: string[]; seen?: string[]; places?: { name: string }[]; readings?: NewReading[] };
}

export interface CaseRow {
  id: string;
  title: string;
  notes: string;
  created: number;
  changed: number;
  photos: PhotoRow[];
  runs: RunRow[];
}

export interface RunRequest {
  model: string | null;
  base_url: string | null;
  method: string | null;
  parallel: number;
  verifier: string | null;
  within: string | null;
  area: GeoJSON.Geometry | null;
  hint: string | null;
  taken: string | null;
  drives_on: "left" | "right" | null;
  seen: string | null;
  granularity: Granularity;
  turns: number | null;
  calls: number | null;
  tokens: number | null;
  seconds: number | null;
  usd: number | null;
  force_answer: boolean;
  send_to: string[];
}

/** What a person reads in a part of a photo of a run, photos counted from 1; `was` is what was read before. */
export interface NewReading {
  box: [number, number, number, number];
  text: string;
  photo: number;
  was: string;
}

export interface Feedback {
  reject_clues: string[];
  reject_candidates: string[];
  reject_texts: string[];
  readings: NewReading[];
  hint: string | null;
  area: GeoJSON.Geometry | null;
  within: string | null;
  send_to: string[];
}

export type Verdict = "for" | "against" | "undecided";

export interface CheckedView {
  claimed: Point;
  verdict: Verdict;
  reason: string;
  speaks_for: string[];
  speaks_against: string[];
}

export interface ModelChoice {
  model: string;
  base_url: string | null;
  words: string;
}

export interface About {
  version: string;
  offline: boolean;
  token: boolean;
  keyring: boolean;
  limits: {
    photo_bytes: number;
    photo_pixels: number;
    photos: number;
    json_bytes: number;
    title_characters: number;
    notes_characters: number;
  };
  models: ModelChoice[];
  methods: string[];
  services: string[];
  regions: string[];
  granularities: Granularity[];
  formats: string[];
  /** Whether no model was chosen yet. */
  setup: boolean;
  /** Whether a batch is under review. */
  review: boolean;
}

export interface Settings {
  model: string | null;
  base_url: string | null;
  offline: boolean;
  granularity: Granularity;
  retention_days: number | null;
  quota_mb: number | null;
  online_tiles: string | null;
}

export type Keeping = "memory" | "keyring";

export interface KeyRow {
  service: string;
  title: string;
  set: boolean;
  keep: Keeping | "environment" | null;
}

export interface KeyList {
  keyring: boolean;
  keys: KeyRow[];
}

/** A map that can be downloaded: bytes to download, bytes on disk afterwards, seconds to import. */
export interface MapOffer {
  place: string;
  name: string;
  title: string;
  host: string;
  size_bytes: number;
  disk_bytes: number;
  seconds: number;
  day: string | null;
  there: string | null;
  up_to_date: boolean;
}

export interface MapJob {
  place: string;
  host: string;
  size_bytes: number;
  state: "downloading" | "importing" | "done" | "failed" | "cancelled";
  share: number;
  what: string;
  trouble: string | null;
}

/** A map that this machine has; its bounds are in degrees. */
export interface RegionRow {
  name: string;
  kind: string;
  source: string;
  day: string | null;
  size_bytes: number;
  south: number;
  west: number;
  north: number;
  east: number;
}

export interface MapsView {
  host: string;
  regions: RegionRow[];
  job: MapJob | null;
}

/** A shadow and when it was seen: its length by the object's height, and the sun's bearing. */
export interface NewShadow {
  time: string;
  time_end: string;
  ratio: number | null;
  azimuth_deg: number | null;
}

export interface ShadowsView {
  words: string[];
  found: {
    kind: "band" | "times";
    fits: boolean | null;
    area: GeoJSON.Polygon | GeoJSON.MultiPolygon | null;
    countries: { code: string; name: string; people_share: number; of_its_land: number }[];
  };
}

export interface ApiTrouble {
  kind: string;
  message: string;
  hosts?: string[];
}

export interface GuideValue {
  value: string;
  label: string;
}

export interface GuideAttribute {
  attribute: string;
  label: string;
  question: string;
  group: string;
  values: GuideValue[];
}

export interface GuideView {
  attributes: GuideAttribute[];
}

export interface CountryOdds {
  code: string;
  name: string;
  share: number;
  lat: number | null;
  lon: number | null;
  radius_km: number | null;
}

export interface SightingView {
  words: string;
  label: string;
  moved: Record<string, number>;
}

export interface SightingsView {
  countries: CountryOdds[];
  sightings: SightingView[];
  not_understood: string[];
}
