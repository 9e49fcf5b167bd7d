import { useState } from "preact/hooks";
import { History } from "./History";
import { FirstVisit } from "../setup/FirstVisit";
import { Intake } from "./Intake";

export function Home() {
  const [version, setVersion] = useState(0);
  const [known, setKnown] = useState<number | null>(null);
  return (
    <div class="home">
      <Intake first={known === 0} onBegun={() => setVersion(version + 1)} />
      <FirstVisit />
      <History version={version} onCount={setKnown} />
    </div>
  );
}
