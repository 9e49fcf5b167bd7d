import { useEffect, useRef, useState } from "preact/hooks";
import { CaseScreen } from "../case/CaseScreen";
import { Home } from "../home/Home";
import { hashOf, route, type Route } from "../router";
import { question } from "../state/consent";
import { mapAskedFor } from "../state/maps";
import { serverGone, signInWanted } from "../state/server";
import { t } from "../strings";
import { later } from "../ui/later";
import { Banner } from "../ui/parts";
import { Consent } from "./Consent";
import { Notices } from "./Notices";
import { Shortcuts, useShortcuts } from "./Shortcuts";
import { TopBar } from "./TopBar";

const SignIn = later(async () => (await import("./SignIn")).SignIn);
const Checklist = later(async () => (await import("../guide/Checklist")).Checklist);
const Compare = later(async () => (await import("../compare/Compare")).Compare);
const Settings = later(async () => (await import("../settings/Settings")).Settings);
const Review = later(async () => (await import("../review/Review")).Review);
const GetMap = later(async () => (await import("../maps/GetMap")).GetMap);

function Screen({ at }: { at: Route }) {
  switch (at.screen) {
    case "home":
      return <Home />;
    case "case":
      return <CaseScreen key={at.caseId} caseId={at.caseId} runId={at.runId} />;
    case "compare":
      return <Compare key={hashOf(at)} left={at.left} right={at.right} />;
    case "see":
      return <Checklist />;
    case "review":
      return <Review />;
    case "settings":
      return <Settings />;
  }
}

/** The frame of every screen: bar, main part, what is said aloud, and what asks for attention. */
export function Shell() {
  const [help, setHelp] = useState(false);
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const at = route.value;
  const where = at.screen === "case" ? at.caseId : at.screen;
  useShortcuts(() => setHelp(true));
  useEffect(() => {
    if (first.current) first.current = false;
    else {
      main.current?.focus({ preventScroll: true });
      scrollTo(0, 0);
    }
  }, [where]);
  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t("shell.skip")}
      </a>
      <TopBar onHelp={() => setHelp(true)} />
      <Notices />
      <main id="main" ref={main} tabIndex={-1}>
        {serverGone.value ? <Banner kind="bad">{t("error.goneWaiting")}</Banner> : null}
        {signInWanted.value ? <SignIn /> : <Screen at={at} />}
      </main>
      {question.value ? <Consent question={question.value} /> : null}
      {mapAskedFor.value === null ? null : <GetMap key={mapAskedFor.value} place={mapAskedFor.value} />}
      {help ? <Shortcuts onClose={() => setHelp(false)} /> : null}
    </>
  );
}
