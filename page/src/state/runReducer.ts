/** A run as it stands, made from what was told of it and from nothing else. */
import type {
  AnswerView, BudgetView, CallView, CandidateView, ClueView, MemberTold, ObservedView, RunState, SpentView, StartedView, TextLine, Told,
} from "../api/types";

export interface TurnView {
  turn: number;
  /** What a person said before it, where somebody went on. */
  before: string;
  thought: string;
  text: string;
  calls: { call: CallView; outcome: ObservedView | null }[];
}

export interface RunView {
  state: RunState | null;
  position: number | null;
  preparing: { what: string; share: number } | null;
  started: StartedView | null;
  turns: TurnView[];
  candidates: CandidateView[];
  clues: ClueView[];
  lines: TextLine[];
  spent: SpentView | null;
  budget: BudgetView | null;
  answer: AnswerView | null;
  members: MemberTold[];
  /** What somebody said to go on, until the next step answers to it. */
  resumed: string;
  ended: { reason: string; trouble: string | null } | null;
}

export const NOTHING_TOLD: RunView = {
  state: null, position: null, preparing: null, started: null, turns: [], candidates: [], clues: [], lines: [], spent: null, budget: null, answer: null,
  members: [], resumed: "", ended: null,
};

function withTurn(turns: TurnView[], number: number, change: (turn: TurnView) => TurnView): TurnView[] {
  const at = turns.findIndex((turn) => turn.turn === number);
  const before = turns[at];
  if (before === undefined) return [...turns, change({ turn: number, before: "", thought: "", text: "", calls: [] })];
  return turns.with(at, change(before));
}

function observed(view: RunView, outcome: ObservedView): RunView {
  const turns = withTurn(view.turns, outcome.turn, (turn) => {
    const known = turn.calls.some(({ call }) => call.id === outcome.call);
    const calls = known
      ? turn.calls.map((one) => (one.call.id === outcome.call ? { ...one, outcome } : one))
      : [...turn.calls, { call: { id: outcome.call, tool: outcome.tool, words: "" }, outcome }];
    return { ...turn, calls };
  });
  return { ...view, turns, lines: [...view.lines, ...outcome.lines] };
}

export function after(view: RunView, told: Told): RunView {
  switch (told.kind) {
    case "state":
      if (told.data.state === "preparing") return { ...view, state: "running", preparing: { what: told.data.what, share: told.data.share } };
      return { ...view, state: told.data.state, position: told.data.position ?? null, preparing: null };
    case "started":
      return { ...view, started: told.data, preparing: null, budget: told.data.budget, ended: null };
    case "resumed":
      return { ...view, budget: told.data.budget, ended: null, answer: null, resumed: told.data.words };
    case "said":
      return {
        ...view,
        ended: null,
        resumed: "",
        turns: withTurn(view.turns, told.data.turn, (turn) => ({
          ...turn,
          before: view.resumed,
          thought: told.data.thought,
          text: told.data.text,
          calls: told.data.calls.map((call) => ({ call, outcome: null })),
        })),
      };
    case "observed":
      return observed(view, told.data);
    case "candidate": {
      const at = view.candidates.findIndex((one) => one.id === told.data.id);
      return { ...view, candidates: at < 0 ? [...view.candidates, told.data] : view.candidates.with(at, told.data) };
    }
    case "clues":
      return { ...view, clues: told.data.clues };
    case "spent":
      return { ...view, spent: told.data, budget: told.data.of };
    case "answer":
      return { ...view, answer: told.data };
    case "member":
      return { ...view, members: [...view.members, told.data] };
    case "ended":
      return { ...view, ended: told.data };
  }
}

const NEAR_DEGREES = 0.0005;

function same(one: CandidateView, other: { name: string; lat: number | null; lon: number | null }): boolean {
  if (one.lat === null || one.lon === null || other.lat === null || other.lon === null) return one.name === other.name;
  return Math.abs(one.lat - other.lat) < NEAR_DEGREES && Math.abs(one.lon - other.lon) < NEAR_DEGREES;
}

/** The candidates of the pool with the letters and shares that the answer gives them; the likeliest first. */
export function ranked(pool: readonly CandidateView[], answer: AnswerView | null): CandidateView[] {
  const listed = answer?.candidates ?? [];
  const taken = new Set<string>();
  const lettered = listed.map((one): CandidateView => {
    const match = pool.find((other) => !taken.has(other.id) && (one.id === other.id || same(other, one)));
    if (match) taken.add(match.id);
    return {
      id: match?.id ?? one.id,
      name: one.name,
      lat: one.lat,
      lon: one.lon,
      radius_km: one.radius_km ?? match?.radius_km ?? null,
      probability: one.probability,
      // The pool has its evidence line by line, the answer in one breath.
      for: match && match.for.length > 0 ? match.for : one.for,
      against: match && match.against.length > 0 ? match.against : one.against,
      fate: one.is_answer ? "answered" : (match?.fate ?? "open"),
      letter: one.letter,
      is_answer: one.is_answer,
    };
  });
  const others = pool.filter((one) => !taken.has(one.id));
  const weight = (one: CandidateView): number => (one.is_answer ? 2 : one.fate === "dropped" ? -1 : 0) + (one.probability ?? 0);
  return [...lettered, ...others].sort((one, other) => weight(other) - weight(one));
}
