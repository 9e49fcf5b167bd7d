/** Names for parts of what the server says, and a run's events. What was read in a photo or said by a model is plain text. */
import type {
  AnswerView, CandidateView as Candidate, CluesView, EndedView, KeyShown, LineView, NewFeedback, NewReading,
  ObservedView, PointView, ResumedView, RunShown, SaidView, SpentView, StartedView,
} from "./schema";

export type * from "./schema";

export type RunState = RunShown["state"];
export type Granularity = RunShown["granularity"];
export type Verdict = "for" | "against" | "undecided";
export type Keeping = Exclude<KeyShown["keep"], "environment" | null>;
export type AreaKind = NonNullable<AnswerView["area"]>;
export type Box = NewReading["box"];
export type Point = Omit<PointView, "name">;
export type Feedback = Required<NewFeedback>;
/** A line that was read; its number in the evidence where it has one. */
export type TextLine = LineView & { number?: number | null };
/** A candidate as the map shows it. */
export type CandidateView = Candidate & { letter?: string; is_answer?: boolean; area?: AreaKind | null };

export interface MemberTold {
  number: number;
  name: string;
  words: string;
}

export interface ToldData {
  /** Preparing happens within a run: something is built once, such as the atlas; `share` says how much of it is done. */
  state: { state: RunState; position?: number | null } | { state: "preparing"; what: string; share: number };
  started: StartedView;
  resumed: ResumedView;
  said: SaidView;
  observed: ObservedView;
  candidate: Candidate;
  clues: CluesView;
  spent: SpentView;
  answer: AnswerView;
  member: MemberTold;
  ended: EndedView;
}

export type ToldKind = keyof ToldData;
export type Told = { [K in ToldKind]: { id: number; kind: K; data: ToldData[K] } }[ToldKind];
