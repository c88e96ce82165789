/** A piece of a sentence: text, or an element such as a link, which each language puts in its own place. */
export type Part = string | object;
export type Sentence = readonly Part[];
