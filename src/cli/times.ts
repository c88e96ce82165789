/** How long ago, or in how long, in the two largest units: `3m 20s ago`, `in 2h`. */
export function relativeTime(instant: string, nowMs: number): string {
  const ms = Date.parse(instant) - nowMs;
  const text = spanText(Math.abs(ms));
  if (text === "0s") return "now";
  return ms > 0 ? `in ${text}` : `${text} ago`;
}

const units = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1_000],
] as const;

export function spanText(ms: number): string {
  if (ms < 1_000) return ms < 1 ? "0s" : `${Math.round(ms)}ms`;
  const at = units.findIndex(([, size]) => ms >= size);
  const parts = units.slice(at, at + 2).reduce<{ rest: number; text: string[] }>(
    ({ rest, text }, [name, size]) => {
      const count = Math.floor(rest / size);
      return { rest: rest - count * size, text: count > 0 ? [...text, `${count}${name}`] : text };
    },
    { rest: ms, text: [] },
  );
  return parts.text.join(" ");
}

/** A date and time by the clock of a zone: `2026-11-22 09:30:00`. @throws RangeError for a zone that does not exist */
export function wallTimeIn(instant: string, zone: string): string {
  const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "medium" });
  return format.format(Date.parse(instant));
}
