import exampleUrl from "../assets/example.jpg";
import { t } from "../strings";

/** What there will be to see, for those who have no case yet. The picture is drawn, and says so. */
export function ExampleFinding() {
  const points = [
    ["1", t("example.name")],
    ["2", t("example.number")],
    ["3", t("example.street")],
  ] as const;
  return (
    <div class="example">
      <figure class="example-photo">
        <svg viewBox="0 0 1280 960" role="img" aria-label={t("example.alt")}>
          <image href={exampleUrl} width="1280" height="960" />
          <g class="example-boxes" aria-hidden="true">
            <rect x="56" y="32" width="540" height="112" />
            <rect x="114" y="178" width="1074" height="226" />
            <rect x="64" y="464" width="562" height="232" />
            <circle cx="56" cy="32" r="26" />
            <circle cx="114" cy="178" r="26" />
            <circle cx="64" cy="464" r="26" />
            <text x="56" y="42">3</text>
            <text x="114" y="188">1</text>
            <text x="64" y="474">2</text>
          </g>
        </svg>
        <figcaption>{t("example.caption")}</figcaption>
      </figure>
      <div class="example-words">
        <h3>{t("example.title")}</h3>
        <ol class="example-points">
          {points.map(([number, words]) => (
            <li key={number}>
              <span class="badge" aria-hidden="true">
                {number}
              </span>
              {words}
            </li>
          ))}
        </ol>
        <p class="quiet">{t("example.then")}</p>
      </div>
    </div>
  );
}
