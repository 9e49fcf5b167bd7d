import type { MemberTold, TeamView } from "../api/types";
import { percent } from "../format";
import { t } from "../strings";
import { Icon } from "../ui/Icon";

/** Several minds on one photo: what each came to, and who holds the answer. */
export function Team({ team, members }: { team: TeamView | null; members: readonly MemberTold[] }) {
  if (team === null && members.length === 0) return null;
  return (
    <section class="panel" aria-labelledby="team-title">
      <h3 id="team-title">{t("team.title")}</h3>
      {team === null ? (
        <ul class="voices">
          {members.map((member, index) => (
            <li key={index}>
              <span class="voice-name">{member.name || t("team.try", { n: member.number })}</span>
              <span>{member.words}</span>
            </li>
          ))}
        </ul>
      ) : (
        <>
          {team.words ? <p class="quiet">{team.words}</p> : null}
          <ul class="voices">
            {team.voices.map((voice, index) => (
              <li key={index} class={voice.won ? "won" : ""}>
                <span class="voice-name">
                  {voice.won ? <Icon name="check" size={15} /> : null}
                  {voice.name}
                </span>
                <span>{voice.failed ? t("team.failed", { why: voice.failed }) : voice.place || t("finding.none")}</span>
                <span class="figure">{voice.probability === null ? "" : percent(voice.probability)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </section>
  );
}
