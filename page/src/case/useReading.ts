import { useMemo, useState } from "preact/hooks";
import { api, troubleOf } from "../api/client";
import type { Box, RunShown, TextLine } from "../api/types";
import type { Marking, Share } from "../photo/marking";
import { announce, notify } from "../state/announce";
import { t } from "../strings";
import type { Gathered } from "./feedback";
import { type Line, lineAt, linesOf } from "./lines";

export interface Reading {
  lines: readonly Line[];
  /** The key of the line that is being corrected. */
  editing: string | null;
  state: "no" | "marking" | "busy";
  edit(key: string | null): void;
  /** Correct the line that a box of a photo shows; photos are counted from 1. */
  choose(photo: number, box: Box): void;
  toggle(): void;
  /** What is marked in the photo that is shown, an index, by its number. */
  marking(photo: number, number: number): Marking | null;
}

/** The text of a run, and what a person corrects in it. */
export function useReading(run: RunShown, read: readonly TextLine[], gathered: Gathered): Reading {
  const [editing, setEditing] = useState<string | null>(null);
  const [state, setState] = useState<Reading["state"]>("no");
  const readings = gathered.readings.value;
  const lines = useMemo(() => linesOf(read, [...run.rejected.readings, ...readings.values()]), [read, run.rejected, readings]);

  const edit = (key: string | null): void => {
    // A box that nothing was written into is none.
    for (const [known, one] of gathered.readings.value) if (one.text === "" && known !== key) gathered.forget(known);
    setEditing(key);
  };
  const readPart = async (photo: number, number: number, from: Share, to: Share): Promise<void> => {
    const box: Box = [Math.min(from.x, to.x), Math.min(from.y, to.y), Math.max(from.x, to.x), Math.max(from.y, to.y)];
    setState("busy");
    try {
      const found = await api.read(run.case, number, box);
      const keys = found.map((line) => gathered.add(photo + 1, line.box, line.text));
      // Where nothing could be read, the person may know what stands there.
      setEditing(keys.length === 0 ? gathered.add(photo + 1, box, "") : keys.length === 1 ? (keys[0] ?? null) : null);
      announce(t(found.length === 0 ? "text.unread" : "text.found", { text: found.map((line) => line.text).join(", ") }));
    } catch (thrown) {
      notify(troubleOf(thrown).message, { bad: true });
    } finally {
      setState("no");
    }
  };
  return {
    lines, editing, state, edit,
    choose(photo, box) {
      const line = lineAt(lines, photo, box);
      if (line) edit(line.key);
    },
    toggle: () => setState(state === "marking" ? "no" : "marking"),
    marking: (photo, number) =>
      state === "marking" ? { kind: "box", how: t("text.drawBox"), onDone: (from, to) => void readPart(photo, number, from, to) } : null,
  };
}
