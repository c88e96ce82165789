import { gateWords } from "../admission/gates.ts";
import type { ReasonWords } from "../admission/gate.ts";
import { type Reason, reasons } from "../machine/reasons.ts";
import { reasonTexts } from "../machine/reason-texts.ts";

/** A scheduler that is away for less does not miss a time. */
export const missesText = "a scheduler was away for longer than two minutes";

/** Of the reasons that no gate has. */
const others: Readonly<Partial<Record<Reason, ReasonWords>>> = {
  [reasons.undeliverable]: {
    time: ({ again }) => [
      "the message of its job died three times without a worker",
      `look at its lane's workers; ${again}`,
    ],
  },
  [reasons.canceled]: {
    time: ({ again }) => ["its job was canceled before it ran", again],
  },
  [reasons.misfire]: {
    time: ({ again }) => [`${missesText}, and the misfire policy does not catch this time up`, again],
  },
  [reasons.dstGap]: {
    time: () => [
      "the clock skipped this reading: the gap rule is `skip`, or `auto` of an expression that names every hour",
      "use dst: { gap: 'first-valid' } to run it at the gap's end",
    ],
  },
  [reasons.excluded]: {
    time: ({ calendar }) => [
      calendar,
      "to run such times on another day, set onExcluded; to run it once, trigger the schedule",
    ],
  },
  [reasons.notFollowed]: {
    time: ({ followed, again }) => [followed, again],
  },
  [reasons.noJob]: {
    time: ({ again }) => ["an edit had ended its version, and no job of that version is defined any more", again],
  },
  [reasons.payload]: {
    time: ({ again }) => [
      "no payload could be made for it; the scheduler's log says why",
      `correct the function, then ${again}`,
    ],
  },
};

const words = new Map<string, ReasonWords>(Object.entries({ ...others, ...gateWords }));
const texts = new Map<string, string>(Object.entries(reasonTexts));

/** Of a stored reason. Code of another version may have written one that this version does not have. */
export const reasonWordsOf = (reason: string): ReasonWords & { readonly job: string } => ({
  ...words.get(reason),
  job: texts.get(reason) ?? `code of another version says "${reason}"`,
});
