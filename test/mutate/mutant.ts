import { createHash } from "node:crypto";

/** One mechanical change of a source text: `start` to `end` (UTF-16 offsets in the file) becomes `after`. */
export interface Edit {
  readonly operator: string;
  readonly start: number;
  readonly end: number;
  readonly after: string;
}

export interface Mutant extends Edit {
  /** 12 hex digits of the place's text, the edit and where in the place it is: the same until the place changes. */
  readonly key: string;
  readonly file: string;
  /** The statement or fragment that the change is in. */
  readonly place: string;
  readonly line: number;
  readonly before: string;
}

/** A text that is changed by itself: a template of SQL. */
export interface Place {
  readonly file: string;
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

export function mutantOf(source: string, place: Place, edit: Edit): Mutant {
  const text = source.slice(place.start, place.end);
  const within = [
    place.file,
    place.name,
    text,
    edit.operator,
    edit.start - place.start,
    edit.end - place.start,
    edit.after,
  ];
  return {
    ...edit,
    key: createHash("sha256").update(JSON.stringify(within)).digest("hex").slice(0, 12),
    file: place.file,
    place: place.name,
    line: source.slice(0, edit.start).split("\n").length,
    before: source.slice(edit.start, edit.end),
  };
}

export const mutated = (source: string, { start, end, after }: Edit): string =>
  source.slice(0, start) + after + source.slice(end);

const oneLine = (text: string): string => {
  const line = text.replaceAll(/\s+/g, " ").trim();
  return line.length > 90 ? `${line.slice(0, 87)}...` : line;
};

/** The statement or fragment, and the change: the same however the text around it is worded. */
export const placeOf = ({ file, place }: Mutant): string => `${file} ${place}`;
export const changeOf = ({ operator, before, after }: Mutant): string =>
  `${operator}: ${JSON.stringify(oneLine(before))} -> ${JSON.stringify(oneLine(after))}`;

/** `src/a.ts:12 settle: drop a condition: "and x = 1" -> ""`. */
export const describeMutant = (mutant: Mutant): string =>
  `${mutant.file}:${mutant.line} ${mutant.place}: ${changeOf(mutant)}`;
