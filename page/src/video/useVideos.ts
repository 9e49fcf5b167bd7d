import { useEffect, useState } from "preact/hooks";
import { api } from "../api/client";
import type { CaseShown, PlaceShown } from "../api/types";

const NONE: readonly PlaceShown[] = [];

/** The places of a case's videos; asked for anew whenever a run has begun or ended, since two may turn out to be one. */
export function useVideos(row: CaseShown | null): readonly PlaceShown[] {
  const [places, setPlaces] = useState(NONE);
  const key = row === null ? "" : [row.id, ...row.runs.map((run) => `${run.id} ${run.state}`)].join();
  useEffect(() => {
    if (row === null) return undefined;
    let gone = false;
    void api.videos(row.id).then(
      (videos) => {
        if (!gone) setPlaces(videos.length === 0 ? NONE : videos.flatMap((video) => video.places));
      },
      () => undefined,
    );
    return () => {
      gone = true;
    };
  }, [key]);
  return places;
}
