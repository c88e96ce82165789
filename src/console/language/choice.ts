import { readStored, store } from "../remembered.ts";

export const languages = ["en", "ko"] as const;
export type Language = (typeof languages)[number];

const place = "language";

/** The one chosen by hand, or else the first of the browser's that the page has. Outside a browser it is English. */
function toUse(): Language {
  const inBrowser = "document" in globalThis ? [readStored(place) ?? "", ...navigator.languages] : [];
  const known = inBrowser.map((each) => languages.find((name) => name === each.slice(0, 2)));
  return known.find((each) => each !== undefined) ?? "en";
}

/** Of the page until it is loaded again. */
export const language: Language = toUse();

/** For the pages that are loaded from now on. */
export const keepLanguage = (next: Language): void => store(place, next);
