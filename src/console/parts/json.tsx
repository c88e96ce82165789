import { Button } from "./form.tsx";
import { useState } from "preact/hooks";
import { words } from "../language/words.ts";

const shownCharacters = 4_000;

/** JSON as text, never as anything else. A long one is cut until it is asked for. */
export function JsonView({ value, label }: { readonly value: unknown; readonly label: string }) {
  const [isWhole, setWhole] = useState(false);
  const text = JSON.stringify(value, null, 2) ?? "null";
  const isLong = text.length > shownCharacters;
  return (
    <>
      <pre class="json" tabIndex={0} aria-label={label}>
        {isLong && !isWhole ? `${text.slice(0, shownCharacters)}…` : text}
      </pre>
      {isLong && !isWhole ? (
        <Button text={words.shared.showAllCharacters(text.length)} look="small" onClick={() => setWhole(true)} />
      ) : null}
    </>
  );
}
