import { signal } from "@preact/signals";
import { useLocation } from "preact-iso";
import { bindings, shortcuts, useKeys } from "../keys.ts";
import { Dialog, Facts } from "../parts/index.ts";
import { places } from "./nav.tsx";
import { words } from "../language/words.ts";

export const helpIsOpen = signal(false);

/** The keys that work everywhere, and the list of all that work here. */
export function Shortcuts() {
  const { route } = useLocation();
  useKeys([
    { keys: "?", does: words.shell.showList, run: () => (helpIsOpen.value = true) },
    ...places.map(({ name, href, key }) => {
      return { keys: `g ${key}`, does: words.shell.goTo(name), run: () => route(href) };
    }),
  ]);
  return helpIsOpen.value ? <Help /> : null;
}

const Help = () => (
  <Dialog title={words.shell.keyboard} onClose={() => (helpIsOpen.value = false)}>
    {() => (
      <>
        <Facts
          look="dialog-text"
          of={bindings.value.map(({ keys, does }) => [
            keys.split(" ").map((each) => <kbd key={each}>{each}</kbd>),
            does,
          ])}
        />
        <label class="check-line dialog-foot">
          <input
            type="checkbox"
            checked={shortcuts.value === "on"}
            onChange={(event) => (shortcuts.value = event.currentTarget.checked ? "on" : "off")}
          />
          {words.shell.singleKeys}
        </label>
      </>
    )}
  </Dialog>
);
