import { Button, FormField, Loaded, Select } from "../parts/index.ts";
import { useMemo, useState } from "preact/hooks";
import { words } from "../language/words.ts";
import { useAnswer } from "../resource.ts";
import { type Draft, draftOf, fieldsOf, parsedJson, type PayloadField, payloadOf } from "./fields.ts";

/** A payload as it is being written: its value, or why it is none. */
export type Written = { readonly payload: unknown } | { readonly problem: string };

/** @throws Error with what is wrong with it */
export function payloadIn(written: Written): unknown {
  if ("problem" in written) throw new Error(written.problem);
  return written.payload;
}

interface KindAndPayloadProps {
  readonly kind: string;
  /** Without it the kind is given. */
  readonly onKind?: (kind: string) => void;
  /** The payload that it begins with. */
  readonly initial?: unknown;
  readonly onChange: (written: Written) => void;
}

/** A kind, and its payload as its schema asks for it. */
export function KindAndPayload({ kind, onKind, ...payload }: KindAndPayloadProps) {
  const found = useAnswer("GET /kinds", {}, { again: "never" });
  return (
    <Loaded of={found}>
      {({ kinds }) => {
        const startable = kinds.filter((each) => each.startable).map(({ id }) => [id, id] as const);
        const { payload: schema } = kinds.find(({ id }) => id === kind) ?? { payload: {} };
        return (
          <>
            {onKind === undefined ? null : (
              <FormField name={words.labels.kind} isRequired>
                <Select isRequired value={kind} of={[["", "–"], ...startable]} onChoose={onKind} />
              </FormField>
            )}
            {kind === "" ? null : <PayloadForm key={kind} schema={schema} {...payload} />}
          </>
        );
      }}
    </Loaded>
  );
}

interface PayloadFormProps extends Pick<KindAndPayloadProps, "initial" | "onChange"> {
  /** JSON Schema; null for a kind that takes no payload. */
  readonly schema: unknown;
}

/** A field for each member of the payload, or the whole of it as JSON. */
function PayloadForm({ schema, initial, onChange }: PayloadFormProps) {
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [draft, setDraft] = useState<Draft | null>(() => (fields === null ? null : draftOf(fields, initial)));
  const [text, setText] = useState(() => JSON.stringify(initial ?? (schema === null ? null : {}), null, 2));
  if (schema === null && initial == null) return <p class="dim">{words.payload.none}</p>;
  if (fields === null || draft === null) {
    const write = (next: string): void => {
      setText(next);
      const payload = parsedJson(next);
      onChange(payload === undefined ? { problem: words.payload.noJson } : { payload });
    };
    return (
      <textarea
        class="field payload-field"
        aria-label={words.labels.payload}
        rows={10}
        spellcheck={false}
        value={text}
        onInput={(event) => write(event.currentTarget.value)}
      />
    );
  }
  const write = (name: string, value: string): void => {
    const next = { ...draft, [name]: value };
    setDraft(next);
    const { payload, wrong } = payloadOf(fields, next);
    onChange(wrong.length > 0 ? { problem: words.payload.wrong(wrong.join(", ")) } : { payload });
    setText(JSON.stringify(payload, null, 2));
  };
  return (
    <fieldset class="form-fields">
      <legend>{words.labels.payload}</legend>
      {fields.map((field) => (
        <Member key={field.name} field={field} value={draft[field.name] ?? ""} onWrite={write} />
      ))}
      <Button text={words.payload.asJson} look="small" onClick={() => setDraft(null)} />
    </fieldset>
  );
}

interface MemberProps {
  readonly field: PayloadField;
  readonly value: string;
  readonly onWrite: (name: string, value: string) => void;
}

const Member = ({ field: { name, is, isRequired, choices, hint }, value, onWrite }: MemberProps) => (
  <FormField name={name} hint={hint} isRequired={isRequired}>
    {is === "choice" ? (
      <Select
        of={[["", "–"], ...choices.map((each) => [each, each.replace(/^"|"$/g, "")] as const)]}
        value={value}
        onChoose={(next) => onWrite(name, next)}
      />
    ) : (
      <input
        class={is === "json" ? "field mono" : "field"}
        type="text"
        inputMode={is === "number" ? "decimal" : "text"}
        placeholder={is === "json" ? "[…] {…}" : ""}
        spellcheck={false}
        value={value}
        onInput={({ currentTarget }) => onWrite(name, currentTarget.value)}
      />
    )}
  </FormField>
);
