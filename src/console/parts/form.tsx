import type { ComponentChildren } from "preact";
import { words } from "../language/words.ts";
import { Icon, type IconName } from "./icon.tsx";
import { myZone } from "../time.ts";

interface ButtonProps {
  readonly text: string;
  /** Further classes: `small`, `primary`, `danger`. */
  readonly look?: string;
  /** Without it the form is sent. */
  readonly onClick?: (() => void) | undefined;
  /** Read out instead of the text, where several say the same. */
  readonly label?: string;
  readonly disabled?: boolean;
}

export const Button = ({ text, look = "", onClick, label, disabled = false }: ButtonProps) => (
  <button
    type={onClick === undefined ? "submit" : "button"}
    class={`button ${look}`}
    {...{ onClick, disabled, "aria-label": label }}
  >
    {text}
  </button>
);

interface IconButtonProps extends Pick<ButtonProps, "text" | "look"> {
  readonly icon: IconName;
  readonly size?: number;
  readonly onClick: () => void;
}

export const IconButton = ({ icon, text, look = "", size = 16, onClick }: IconButtonProps) => (
  <button type="button" class={`icon-button ${look}`} title={text} onClick={onClick}>
    <Icon name={icon} size={size} />
    <span class="hidden">{text}</span>
  </button>
);

interface FormProps {
  readonly look?: string;
  readonly onSend: () => void;
  readonly children: ComponentChildren;
}

/** A form whose page stays. */
export const Form = ({ look = "", onSend, children }: FormProps) => (
  <form
    class={look}
    onSubmit={(event) => {
      event.preventDefault();
      onSend();
    }}
  >
    {children}
  </form>
);

interface FieldProps {
  readonly name: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly children: ComponentChildren;
}

/** A field of a form with its name above it, and what may stand in it below. */
export const FormField = ({ name, hint = "", isRequired = false, children }: FieldProps) => (
  <label class="form-field">
    <span>
      {name}
      {isRequired ? <span aria-hidden="true"> *</span> : null}
    </span>
    {children}
    {hint === "" ? null : <span class="small">{hint}</span>}
  </label>
);

interface TextFieldProps extends Omit<FieldProps, "children"> {
  readonly value: string;
  readonly onWrite: (value: string) => void;
  /** What else the browser may know of it. */
  readonly own?: Readonly<Record<string, unknown>>;
}

export const TextField = ({ value, onWrite, own = {}, ...field }: TextFieldProps) => (
  <FormField {...field}>
    <input
      class="field"
      required={field.isRequired}
      value={value}
      onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      {...own}
    />
  </FormField>
);

interface NamedProps {
  readonly name: string;
  readonly value: string;
  readonly onName: (value: string) => void;
}

/** Asked for when it was written whole: the API compares whole names. */
export const Named = ({ name, value, onName }: NamedProps) => (
  <input
    type="search"
    class="field"
    aria-label={name}
    placeholder={name}
    value={value}
    onChange={({ currentTarget }) => onName(currentTarget.value.trim())}
  />
);

interface SelectProps {
  /** Read out; left out where a label stands around it. */
  readonly label?: string;
  /** Each value with its words, and their language where it is another one than the page's. */
  readonly of: readonly (readonly [value: string, text: string, lang?: string])[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
  readonly look?: string;
  readonly isRequired?: boolean;
}

export const Select = ({ label, of, value, onChoose, look = "select", isRequired = false }: SelectProps) => (
  <select
    class={look}
    aria-label={label}
    required={isRequired}
    value={value}
    onChange={({ currentTarget }) => onChoose(currentTarget.value)}
  >
    {of.map(([each, text, lang]) => (
      <option key={each} value={each} lang={lang}>
        {text}
      </option>
    ))}
  </select>
);

interface ClockFieldProps {
  readonly name: string;
  /** As it was written: `2026-11-21 08:00`. */
  readonly value: string;
  readonly isOptional?: boolean;
  readonly onWrite: (value: string) => void;
}

/** A day and a time of 24 hours. `datetime-local` would write twelve hours in an English browser, and other times on the page do not. */
export const ClockField = ({ name, value, isOptional = false, onWrite }: ClockFieldProps) => (
  <label>
    {name}
    <input
      class="field mono"
      required={!isOptional}
      size={16}
      maxLength={16}
      placeholder="2026-11-21 08:00"
      autocomplete="off"
      value={value}
      onInput={({ currentTarget }) => {
        const { value: text } = currentTarget;
        currentTarget.setCustomValidity(text === "" || isClock(text) ? "" : words.time.badClock(text));
        onWrite(currentTarget.value);
      }}
    />
  </label>
);

/** A `T` in place of the space is read too, as other tools write it. */
function isClock(text: string): boolean {
  const [, day = "", hour = "", minute = ""] = /^(\d{4}-\d\d-\d\d)[ T](\d\d):(\d\d)$/.exec(text.trim()) ?? [];
  const at = Date.parse(`${day}T${hour}:${minute}Z`);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

/** What the API reads. */
export const localTimeOf = (text: string): string => text.trim().replace(" ", "T");

const clockIn = (timeZone: string) =>
  new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" });
const [local, utc] = [clockIn(myZone), clockIn("UTC")];

/** By the reader's clock, or in UTC; empty for no time. */
export const clockOf = (at: number | null, isUtc = false): string =>
  at === null ? "" : (isUtc ? utc : local).format(at);
export const clockTime = (text: string, isUtc = false): number => Date.parse(`${localTimeOf(text)}${isUtc ? "Z" : ""}`);
