import { words } from "../language/words.ts";

interface ClockFieldProps {
  readonly name: string;
  /** As it was written: `2026-11-21 08:00`. */
  readonly value: string;
  readonly onWrite: (value: string) => void;
}

/** A day and a time of 24 hours. `datetime-local` would write twelve hours in an English browser, and other times on the page do not. */
export const ClockField = ({ name, value, onWrite }: ClockFieldProps) => (
  <label>
    {name}
    <input
      class="field mono"
      required
      size={16}
      maxLength={16}
      placeholder="2026-11-21 08:00"
      autocomplete="off"
      value={value}
      onInput={({ currentTarget }) => {
        currentTarget.setCustomValidity(isClock(currentTarget.value) ? "" : words.time.badClock(currentTarget.value));
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
