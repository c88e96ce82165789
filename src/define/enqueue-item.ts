import { durationMs } from "../calendar/duration.ts";
import type { EnqueueItem } from "../machine/client.ts";
import type { EnqueueOptions } from "./context.ts";

type ItemOptions = Omit<EnqueueOptions, "tx" | "cell">;

const itemOptions = ["key", "delay", "dueAt"];
const callOptions = ["tx", "cell"];

/** What `enqueue` was given. @throws TypeError for an unknown option, RangeError for a delay that is none */
export function itemOf(id: string, payload: unknown, options: EnqueueOptions): EnqueueItem {
  refuseOthers(`options of "${id}"`, options, [...itemOptions, ...callOptions]);
  return itemWith(id, payload, options);
}

/** What `enqueueAll` was given. @throws as `itemOf`, with the place in the list */
export function itemsOf(
  id: string,
  items: readonly { readonly payload: unknown; readonly options?: ItemOptions }[],
  options: Pick<EnqueueOptions, "tx" | "cell">,
): readonly EnqueueItem[] {
  refuseOthers(`options of all items of "${id}"`, options, callOptions);
  return items.map((item, index) => {
    const { payload, options: own = {} } = item;
    refuseOthers(`item ${index} of "${id}"`, item, ["payload", "options"]);
    refuseOthers(`options of item ${index} of "${id}"`, own, itemOptions);
    return itemWith(id, payload, own);
  });
}

function itemWith(id: string, payload: unknown, { key, delay, dueAt }: ItemOptions): EnqueueItem {
  return { payload, key, delayMs: delay === undefined ? undefined : durationMs(`delay of "${id}"`, delay), dueAt };
}

/** Without types, or from a variable, any member would pass: a due time at the wrong place would be lost. */
function refuseOthers(what: string, given: object, known: readonly string[]): void {
  const other = Object.keys(given).find((name) => !known.includes(name));
  if (other === undefined) return;
  const place = itemOptions.includes(other)
    ? "put it into the options of the item"
    : callOptions.includes(other)
      ? "put it into the options of the call"
      : `known are ${known.join(", ")}`;
  throw new TypeError(`${what} must not have ${JSON.stringify(other)}: ${place}`);
}
