import { useId } from "preact/hooks";

/** On or off, with its help underneath. */
export function Switch(props: { label: string; help: string; on: boolean; disabled?: boolean; onChange(on: boolean): void }) {
  const id = useId();
  return (
    <div class="switch">
      <input
        id={id}
        type="checkbox"
        role="switch"
        aria-describedby={`${id}-help`}
        checked={props.on}
        disabled={props.disabled ?? false}
        onChange={(event) => props.onChange(event.currentTarget.checked)}
      />
      <div>
        <label class="switch-label" for={id}>
          {props.label}
        </label>
        <span class="field-help" id={`${id}-help`}>
          {props.help}
        </span>
      </div>
    </div>
  );
}
