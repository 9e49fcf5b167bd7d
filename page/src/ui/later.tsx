import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import { t } from "../strings";
import { Banner, Loading } from "./parts";

/** A part of the page that is loaded when somebody first opens it, so that the page itself is there at once. */
export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let known: ComponentType<Props> | null = null;
  return function Later(props: Props) {
    const [Part, setPart] = useState<{ part: ComponentType<Props> } | null>(known === null ? null : { part: known });
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      let gone = false;
      load().then(
        (part) => {
          known = part;
          if (!gone) setPart({ part });
        },
        () => {
          if (!gone) setFailed(true);
        },
      );
      return () => {
        gone = true;
      };
    }, []);
    if (failed) return <Banner kind="bad">{t("error.gone")}</Banner>;
    return Part === null ? <Loading /> : <Part.part {...props} />;
  };
}
