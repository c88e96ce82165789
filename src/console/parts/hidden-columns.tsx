import { useState } from "preact/hooks";
import { words } from "../language/words.ts";
import { readStored, store } from "../remembered.ts";
import type { Column } from "./column.tsx";

/** Which columns the reader left out, by name, kept by this browser; the first with a name always stays. */
export function useHiddenColumns<T>(label: string, columns: readonly Column<T>[], canHide: boolean) {
  const place = `columns.${label}`;
  const [hidden, setHidden] = useState<readonly string[]>(() => (canHide ? (readStored(place) ?? "").split("\n") : []));
  const [isOpen, setOpen] = useState(false);
  if (!canHide) return { columns, menu: null };
  const toggle = (name: string): void => {
    const next = hidden.includes(name) ? hidden.filter((each) => each !== name) : [...hidden, name];
    setHidden(next);
    store(place, next.join("\n"));
  };
  const named = columns.flatMap(({ name, isHidden }) => (typeof name === "string" && isHidden !== true ? [name] : []));
  const isOut = ({ name }: Column<T>): boolean =>
    typeof name === "string" && name !== named[0] && hidden.includes(name);
  return {
    columns: columns.filter((column) => !isOut(column)),
    menu: (
      <details class="columns-menu" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>{words.shared.columns}</summary>
        {(isOpen ? named.slice(1) : []).map((name) => (
          <label key={name} class="check-line">
            <input type="checkbox" checked={!hidden.includes(name)} onChange={() => toggle(name)} />
            <span>{name}</span>
          </label>
        ))}
      </details>
    ),
  };
}
