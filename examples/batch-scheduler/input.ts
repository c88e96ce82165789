/**
 * The example's input, and how its fakes treat each piece: one place, so that the seed, the fakes and
 * the judge of a run agree. Plain arithmetic on the number of the item: the same on every machine.
 */
export type Treatment = "accepted" | "refused once" | "refused always";

export const input = { messages: 2_000, oldestRefused: 300, files: 120 } as const;

export const messageKey = (n: number): string => `order-${String(n).padStart(6, "0")}`;

export function messageTreatment(n: number): Treatment {
  if (n <= input.oldestRefused || n % 50 === 7) return "refused always";
  return n % 20 === 0 ? "refused once" : "accepted";
}

export const filePath = (n: number): string => `/reports/${String(n).padStart(4, "0")}.csv`;

/** `gone`: 404, which no further try heals. `cut off once`: the first answer ends in the middle. */
export function fileTreatment(n: number): Treatment | "gone" | "cut off once" {
  if (n % 25 === 7) return "gone";
  if (n % 30 === 11) return "refused always";
  if (n % 40 === 3) return "cut off once";
  return n % 10 === 0 ? "refused once" : "accepted";
}

export function fileContent(n: number): string {
  const lines = Array.from({ length: 20 + (n % 50) }, (_, line) => `${n},${line},${(n * 7_919 + line) % 10_007}`);
  return `report,line,amount\n${lines.join("\n")}\n`;
}

/** The number in a key or path made above; NaN for anything else. */
export const numberOf = (name: string): number => Number(/(\d+)(?:\.csv)?$/.exec(name)?.[1] ?? Number.NaN);
