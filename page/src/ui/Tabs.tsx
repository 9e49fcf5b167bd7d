import { useRef } from "preact/hooks";

export interface Tab<Name extends string> {
  name: Name;
  label: string;
}

/** Tabs as the keyboard knows them: arrows go from one to the next. */
export function Tabs<Name extends string>(props: { label: string; tabs: readonly Tab<Name>[]; shown: Name; onShow(name: Name): void; idStem: string }) {
  const row = useRef<HTMLDivElement>(null);
  const step = (by: number): void => {
    const at = props.tabs.findIndex((tab) => tab.name === props.shown);
    const next = (at + by + props.tabs.length) % props.tabs.length;
    const tab = props.tabs[next];
    if (!tab) return;
    props.onShow(tab.name);
    row.current?.querySelectorAll<HTMLButtonElement>("[role=tab]")[next]?.focus();
  };
  return (
    <div
      ref={row}
      class="tabs"
      role="tablist"
      aria-label={props.label}
      onKeyDown={(event) => {
        if (event.key === "ArrowRight") step(1);
        else if (event.key === "ArrowLeft") step(-1);
        else return;
        event.preventDefault();
      }}
    >
      {props.tabs.map((tab) => (
        <button
          key={tab.name}
          type="button"
          role="tab"
          id={`${props.idStem}-tab-${tab.name}`}
          aria-controls={`${props.idStem}-${tab.name}`}
          aria-selected={tab.name === props.shown}
          tabIndex={tab.name === props.shown ? 0 : -1}
          onClick={() => props.onShow(tab.name)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}
