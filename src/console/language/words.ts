import { language } from "./choice.ts";
import { english, type Words } from "./en/index.ts";

/** In the language of the page. Another than English is loaded first; without it the page is in English. */
export const words: Words =
  language === "ko"
    ? await import("./ko/index.ts").then(
        ({ korean }) => korean,
        () => english,
      )
    : english;
