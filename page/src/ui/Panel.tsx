import type { ComponentChildren } from "preact";

/** A headed part of a screen. */
export function Panel(props: { id: string; title: string; count?: number; aside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section class="panel" id={props.id} aria-labelledby={`${props.id}-title`}>
      <div class="panel-head">
        <h3 id={`${props.id}-title`}>
          {props.title}
          {props.count ? <span class="count">{props.count}</span> : null}
        </h3>
        {props.aside}
      </div>
      {props.children}
    </section>
  );
}
