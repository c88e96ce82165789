import { effect } from "@preact/signals";
import { remembered } from "./remembered.ts";

export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export const theme = remembered<Theme>("theme", themes, "system");

effect(() => {
  document.documentElement.dataset["theme"] = theme.value;
});
