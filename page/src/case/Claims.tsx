import type { ClaimView } from "../api/types";
import { coordinates, kilometres } from "../format";
import { t } from "../strings";
import { Empty } from "../ui/parts";

function rowsOf(claim: ClaimView): [string, string][] {
  const rows: [string, string | null][] = [
    [t("claims.place"), claim.lat !== null && claim.lon !== null ? coordinates(claim.lat, claim.lon) : null],
    [t("claims.away"), claim.distance_km === null ? null : kilometres(claim.distance_km)],
    [t("claims.taken"), claim.taken_at],
    [t("claims.heading"), claim.heading_deg === null ? null : t("figure.degrees", { n: Math.round(claim.heading_deg) })],
    [t("claims.camera"), claim.camera],
    [t("claims.software"), claim.software],
  ];
  return rows.filter((row): row is [string, string] => Boolean(row[1]));
}

/** What the files say of themselves; it was kept from whoever looked. */
export function Claims({ claims, silence }: { claims: readonly ClaimView[]; silence: string }) {
  const silent = claims.every((claim) => rowsOf(claim).length === 0 && claim.notes.length === 0);
  if (silent) return <Empty>{silence}</Empty>;
  return (
    <>
      <p class="quiet">{t("claims.kept")}</p>
      {claims.map((claim) => (
        <div key={claim.photo} class={`claim ${claim.conflict ? "conflict" : ""}`}>
          {claims.length > 1 ? <h4>{t("claims.photo", { n: claim.photo })}</h4> : null}
          {claim.conflict === null ? null : (
            <p class={claim.conflict ? "flag bad" : "flag good"}>{claim.conflict ? t("claims.conflict") : t("claims.agrees")}</p>
          )}
          {claim.estimated ? <p class="quiet">{t("claims.estimated")}</p> : null}
          <dl class="facts">
            {rowsOf(claim).map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          {rowsOf(claim).length === 0 && claim.notes.length === 0 ? <p class="quiet">{t("claims.none")}</p> : null}
          {claim.notes.map((note) => (
            <p key={note} class="quiet">
              {note}
            </p>
          ))}
        </div>
      ))}
    </>
  );
}
