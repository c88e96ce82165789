import { language } from "./choice.ts";

/** Chromium in the C locale says `en-US@posix`, which Intl refuses: libraries that ask the browser then get the page's language. */
export function repairBrowserLanguage(): void {
  try {
    Intl.getCanonicalLocales(navigator.language);
  } catch {
    Object.defineProperty(navigator, "language", { value: language, configurable: true });
  }
}
