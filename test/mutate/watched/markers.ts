import type { Mutant } from "../mutant.ts";

/** What a text of the product becomes when one of its mutants is planted, by the mutant's number in the run. */
export interface Numbered {
  readonly number: number;
  readonly mutant: Mutant;
}

const open = (number: number): string => `/*<${number}*/`;
const close = (number: number): string => `/*${number}>*/`;
const anyMarker = /\/\*(?:<(\d+)|(\d+)>)\*\//g;

/** The source of a file of statements with comments around what each mutant changes: they travel in the text to where it is sent. */
export function marked(source: string, mutants: readonly Numbered[]): string {
  const inserts = mutants.flatMap(({ number, mutant: { start, end } }) => [
    { at: start, isOpen: true, text: open(number) },
    { at: end, isOpen: false, text: close(number) },
  ]);
  return inserts
    .map((insert, order) => ({ ...insert, order }))
    .toSorted((a, b) => b.at - a.at || b.order - a.order)
    .reduce((text, { at, text: added }) => text.slice(0, at) + added + text.slice(at), source);
}

export const unmarked = (text: string): string => text.replaceAll(anyMarker, "");

/** Numbers of the mutants that change a marked text. */
export const numbersIn = (text: string): number[] => [
  ...new Set([...text.matchAll(anyMarker)].flatMap(([, number]) => (number === undefined ? [] : [Number(number)]))),
];

/** The text with one mutant planted, at each place where its fragment stands, and no markers. */
export function plantedIn(text: string, { number, mutant }: Numbered): string {
  const parts = text.split(open(number));
  const changed = parts.map((part, at) => {
    if (at === 0) return part;
    const end = part.indexOf(close(number));
    return mutant.after + part.slice(end + close(number).length);
  });
  return unmarked(changed.join(""));
}

/** Whether the change is a text that is there before the program runs: what is made of `${...}` is not. */
export const isStatic = ({ after }: Mutant): boolean => !after.includes("${");
