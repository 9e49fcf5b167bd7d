/** What a run tells and what it comes to. Boxes are shares of the photo: left, top, right, bottom, each from 0 to 1. */
import type { Granularity, RunState } from "./types";

export type Box = [number, number, number, number];

/** What a run may use at most; null is no limit. */
export interface Budget {
  turns: number;
  calls: number | null;
  tokens: number | null;
  seconds: number | null;
  usd: number | null;
}

export interface SpentView {
  turns: number;
  calls: number;
  failed_calls: number;
  tokens: number;
  seconds: number;
  usd: number | null;
  of: Budget;
}

export type Fate = "open" | "dropped" | "answered";

/** A candidate of the pool, as the map and the list show it. */
export interface CandidateView {
  id: string;
  name: string;
  lat: number | null;
  lon: number | null;
  radius_km: number | null;
  probability: number | null;
  for: string[];
  against: string[];
  fate: Fate;
  letter?: string;
  is_answer?: boolean;
  area?: AreaKind | null;
}

export interface AnswerCandidate {
  id: string;
  letter: string;
  name: string;
  lat: number | null;
  lon: number | null;
  radius_km: number | null;
  probability: number | null;
  for: string[];
  against: string[];
  is_answer: boolean;
}

/** A finding that is no point: all of a country, or a circle of which no more than a country or region is named. */
export type AreaKind = "country" | "circle";

export interface AnswerView {
  place: string;
  located: boolean;
  address: { country: string | null; region: string | null; precise: string | null };
  lat: number | null;
  lon: number | null;
  radius_km: number | null;
  probability: number | null;
  sure: string;
  /** What a model says beyond its evidence; missing in runs of earlier versions, as the levels are. */
  why?: string;
  levels?: { level: "country" | "region" | "precise"; name: string | null; reasoning: string; uncertainty: string }[];
  explanation: string;
  evidence: string[];
  candidates: AnswerCandidate[];
  against: string;
  hangs_on: string;
  would_help: string;
  verdict: string;
  /** For each photo whether its file claims another place; null where it can't be said. */
  conflicts: (boolean | null)[];
  /** Null where the point counts, missing in runs of earlier versions. */
  area?: AreaKind | null;
  /** The country that is the whole finding; null where it is a circle, missing in runs of earlier versions. */
  outline?: GeoJSON.Polygon | GeoJSON.MultiPolygon | null;
  /** A map that would help and was not there when the run ended. */
  map?: { place: string; size_bytes: number | null } | null;
}

export interface Support {
  name: string;
  country: string | null;
  lat: number | null;
  lon: number | null;
  /** Null where a model says that it speaks for it, and not how much. */
  log_ratio: number | null;
}

export interface ClueView {
  id: string;
  kind: string;
  kind_words: string;
  seen: string;
  says: string;
  photo: number | null;
  box: Box | null;
  reliability: number | null;
  supports: Support[];
  caution: string | null;
  rejected: boolean;
}

export interface CallView {
  id: string;
  tool: string;
  words: string;
}

export interface TextLine {
  text: string;
  photo: number;
  box: Box;
  confidence: number;
  number?: number | null;
}

/** A picture that a tool made; `box` is the part of the photo it shows, null for a map. */
export interface PictureView {
  handle: string;
  photo: number;
  box: Box | null;
  width: number;
  height: number;
}

export interface StartedTold {
  policy: string;
  method: string;
  tools: string[];
  budget: Budget;
  photos: { handle: string; photo: number; width: number; height: number }[];
  hint: string | null;
  area: string | null;
}

export interface SaidTold {
  turn: number;
  thought: string;
  text: string;
  calls: CallView[];
}

export interface ObservedTold {
  turn: number;
  call: string;
  tool: string;
  ok: boolean;
  words: string;
  picture: PictureView | null;
  lines: TextLine[];
  points: { name: string; lat: number; lon: number }[];
  seconds: number;
}

/** A person went on; `words` is what they said. */
export interface ResumedTold {
  policy: string;
  tools: string[];
  budget: Budget;
  words: string;
}

export interface MemberTold {
  number: number;
  name: string;
  words: string;
}

export interface ToldData {
  /** Preparing happens within a run: something is built once, such as the atlas; `share` says how much of it is done. */
  state: { state: RunState; position?: number | null } | { state: "preparing"; what: string; share: number };
  started: StartedTold;
  resumed: ResumedTold;
  said: SaidTold;
  observed: ObservedTold;
  candidate: CandidateView;
  clues: { clues: ClueView[] };
  spent: SpentView;
  answer: AnswerView;
  member: MemberTold;
  ended: { reason: string; trouble: string | null };
}

export type ToldKind = keyof ToldData;
export type Told = { [K in ToldKind]: { id: number; kind: K; data: ToldData[K] } }[ToldKind];

/** What a photo's file says of itself; none of it was used as evidence. */
export interface ClaimView {
  photo: number;
  lat: number | null;
  lon: number | null;
  conflict: boolean | null;
  estimated: boolean;
  distance_km: number | null;
  taken_at: string | null;
  heading_deg: number | null;
  camera: string | null;
  software: string | null;
  format: string;
  width: number;
  height: number;
  bytes: number;
  sha256: string;
  /** What the picture looks like ("screenshot", "document", "drawing"); null for a photograph. */
  not_a_photo: string | null;
  notes: string[];
}

export interface VoiceView {
  name: string;
  place: string;
  lat: number | null;
  lon: number | null;
  probability: number | null;
  answered: boolean;
  failed: string;
  won: boolean;
}

export interface TeamView {
  words: string;
  voices: VoiceView[];
}

/** A feature of the map that a photo shows: its column, from 0 at the left edge to 1, and its place. */
export interface StandMark {
  lat: number;
  lon: number;
  column: number;
}

/** Where a camera stood. Two features leave a curve, more fix the point. */
export interface StandFound {
  kind: "fix" | "curve" | "check";
  lat: number | null;
  lon: number | null;
  address: string;
  radius_km: number | null;
  area_km2: number | null;
  area: GeoJSON.Polygon | GeoJSON.MultiPolygon | null;
  ellipse_m: number[] | null;
  heading_deg: number | null;
  heading_sd_deg: number | null;
  fov_deg: number | null;
  fov_sd_deg: number | null;
  fits: boolean;
  misfits: string[];
  danger_circle: boolean;
  at_edge: boolean;
  features: { lat: number; lon: number; bearing_deg: number | null; distance_km: number | null; residual_deg: number | null; counts: boolean }[];
  others: { lat: number; lon: number; share: number; heading_deg: number }[];
  check: null;
}

export interface StandView {
  words: string[];
  found: StandFound;
}

export interface ResultView {
  answer: AnswerView;
  answered_by: "policy" | "pool" | "nobody";
  ended: { reason: string; trouble: string | null } | null;
  clues: ClueView[];
  claims: ClaimView[];
  spent: SpentView;
  model: string;
  method: string;
  tools: string[];
  hint: string | null;
  area: string | null;
  granularity: Granularity;
  pool: CandidateView[];
  team: TeamView | null;
  text: TextLine[];
  versions: { run: string; told_by: string };
}

/** What differs between two runs; `same` is null where one has no place. */
export interface CompareView {
  left: AnswerView;
  right: AnswerView;
  words: string;
  same: boolean | null;
  distance_km: number | null;
  only_left: ClueView[];
  only_right: ClueView[];
  candidates: { name: string; lat: number | null; lon: number | null; left: number | null; right: number | null }[];
  spent: { left: SpentView; right: SpentView };
  models: { left: string; right: string };
}
