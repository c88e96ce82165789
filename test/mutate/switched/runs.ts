import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import timers from "node:timers/promises";
import { type Group, startGroup } from "../group.ts";
import { follow, type Line } from "./journal.ts";
import type { Order } from "./plan.ts";

/** Without a line for so long, a test process has come to a stop: beyond the limit of what the last line began. */
const silentMsMax = 180_000;
const graceMs = 6_000;
const lookMs = 200;

/** Starts at one file that never ended, before it is given up. */
const startsMax = 3;

export interface Files {
  readonly files: readonly string[];
  /** What is left to do, each time a process starts. */
  readonly order: () => Order;
  readonly on: (line: Line) => void;
  readonly say: (line: string) => void;
  readonly endMs: number;
}

/** Runs test files in one process after another, each as long as it is sound. */
export async function runFiles(given: Files, env: Readonly<Record<string, string>>): Promise<void> {
  const left = new Set(given.files);
  const starts = new Map<string, number>();
  while (left.size > 0 && performance.now() < given.endMs) {
    const stopped = await oneProcess(given, left, env);
    if (stopped === null) return;
    const count = (starts.get(stopped) ?? 0) + 1;
    starts.set(stopped, count);
    if (stopped === "" || count < startsMax) continue;
    given.say(`given up, because it ended ${count} processes: ${stopped}`);
    left.delete(stopped);
  }
}

/** @returns null when it ran all, or the file at which the process ended by itself or came to a stop. */
async function oneProcess(
  { order, on, endMs }: Files,
  left: Set<string>,
  env: Readonly<Record<string, string>>,
): Promise<string | null> {
  const folder = mkdtempSync(join(tmpdir(), "belfry-switched-"));
  const [journal, orders] = [join(folder, "journal.ndjson"), join(folder, "order.json")];
  writeFileSync(orders, JSON.stringify(order()));
  const lines = follow(journal);
  const group = await startGroup(join(import.meta.dirname, "session.ts"), {
    ...env,
    BELFRY_JOURNAL: journal,
    BELFRY_ORDER: orders,
  });
  try {
    return await watched(group, lines, { on, left, endMs });
  } finally {
    await group.end();
    lines.close();
    rmSync(folder, { recursive: true });
  }
}

interface Watched {
  readonly on: (line: Line) => void;
  readonly left: Set<string>;
  readonly endMs: number;
}

async function watched(
  group: Group,
  lines: ReturnType<typeof follow>,
  { on, left, endMs }: Watched,
): Promise<string | null> {
  let isDone = false;
  group.child.once("message", () => (isDone = true));
  group.child.send({ files: [...left] });
  let file = [...left][0] ?? "";
  let last: Line | null = null;
  let lastMs = performance.now();
  for (;;) {
    const wasDone = isDone;
    const hasEnded = group.child.exitCode !== null || group.child.signalCode !== null;
    for (const line of lines.next()) {
      last = line;
      lastMs = performance.now();
      if (line.is === "file") file = line.file;
      if (line.is === "file ended") left.delete(line.file);
      on(line);
      // It is the test that is asked no more, not the file.
      if (line.is === "damaged") return "";
    }
    if (wasDone || performance.now() > endMs) return null;
    if (hasEnded) return file;
    const silentMs = performance.now() - lastMs;
    if (last?.is === "try" && silentMs > last.limitMs + graceMs) {
      on({ is: "tried", name: last.name, key: last.key, how: "hung" });
      return "";
    }
    if (silentMs > (last?.is === "clean" ? last.limitMs : 0) + silentMsMax) return file;
    await timers.setTimeout(lookMs);
  }
}
