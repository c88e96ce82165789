import { signal } from "@preact/signals";

const query = matchMedia("(max-width: 600px)");

/** As wide as a phone: the style sheets turn at the same width. */
export const isNarrow = signal(query.matches);

query.addEventListener("change", () => {
  isNarrow.value = query.matches;
});
