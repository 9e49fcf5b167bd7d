import { useId } from "preact/hooks";

interface FieldProps {
  label: string;
  help?: string;
  value: string;
  onInput(value: string): void;
  type?: "text" | "password" | "number" | "url";
  list?: readonly string[];
  min?: number;
  max?: number;
  autocomplete?: string;
  placeholder?: string;
  disabled?: boolean;
}

/** A labelled line to write in, with its help underneath. */
export function Field(props: FieldProps) {
  const id = useId();
  const helpId = `${id}-help`;
  const listId = `${id}-list`;
  const suggestions = props.list && props.list.length > 0 ? props.list : null;
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {props.label}
      </label>
      <Line {...props} id={id} helpId={props.help ? helpId : undefined} listId={suggestions ? listId : undefined} />
      {suggestions ? (
        <datalist id={listId}>
          {suggestions.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      ) : null}
      {props.help ? (
        <span class="field-help" id={helpId}>
          {props.help}
        </span>
      ) : null}
    </div>
  );
}

function Line(props: FieldProps & { id: string; helpId: string | undefined; listId: string | undefined }) {
  const shared = {
    id: props.id,
    value: props.value,
    disabled: props.disabled ?? false,
    placeholder: props.placeholder,
    autocomplete: props.autocomplete ?? "off",
    spellcheck: false,
    "aria-describedby": props.helpId,
    onInput: (event: { currentTarget: HTMLInputElement }) => props.onInput(event.currentTarget.value),
  };
  switch (props.type) {
    case "password":
      return <input type="password" {...shared} />;
    case "number":
      return <input type="number" min={props.min} max={props.max} {...shared} />;
    case "url":
      return <input type="url" {...shared} />;
    default:
      return props.listId === undefined ? <input type="text" {...shared} /> : <input type="text" list={props.listId} {...shared} />;
  }
}
