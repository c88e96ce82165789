import { effect } from "@preact/signals";
import { storedSignal } from "./remembered.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export const theme = storedSignal<Theme>("theme", themes, "system");

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
