/** A number and a unit: `500ms`, `30s`, `5m`, `2h`, `1d`. */
export type Duration = `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const unitsMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** @returns milliseconds, or null for anything but digits (with a fraction, if need be) and one of ms, s, m, h, d. */
export function parseDuration(text: unknown): number | null {
  const match = typeof text === "string" ? /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/.exec(text) : null;
  const [, count, unit = ""] = match ?? [];
  const ms = Math.round(Number(count) * Number(unitsMs[unit]));
  return Number.isSafeInteger(ms) ? ms : null;
}

/** @throws RangeError naming what was passed and the form that is expected. */
export function durationMs(what: string, text: Duration): number {
  const ms = parseDuration(text);
  if (ms === null) {
    throw new RangeError(
      `${what} is ${JSON.stringify(text)}; write a number and a unit, like "500ms", "30s", "5m", "2h" or "1d"`,
    );
  }
  return ms;
}

/** The shortest way a person would write it: `870000` is `14m30s`. */
export function formatDuration(ms: number): string {
  let rest = Math.round(ms);
  let text = "";
  for (const [unit, size] of Object.entries(unitsMs).toReversed()) {
    const count = Math.floor(rest / size);
    if (count > 0) text += `${count}${unit}`;
    rest -= count * size;
  }
  return text === "" ? "0s" : text;
}
