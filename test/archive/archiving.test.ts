import { describe, expect, test } from "vitest";
import { archiveNext, archiving } from "../../src/insight/write-archive.ts";
import { type ArchiveBatch, archiveLimits, type ArchivePart, archiveParts } from "../../src/insight/archive.ts";
import { world } from "../core/world.ts";

const batch = (part: ArchivePart, isFull: boolean): ArchiveBatch => ({ part, rows: [], isFull, leaving: null });

interface Given {
  readonly next?: (part: ArchivePart) => ArchiveBatch | null;
  readonly write?: () => void;
  readonly left?: boolean;
}

/** Archives over a source that only counts: which parts were asked, and which failures were noted. */
function archive({ next = () => null, write = () => {}, left = true }: Given) {
  const ports = world();
  const asked: ArchivePart[] = [];
  const failures: string[] = [];
  const source = {
    next: async (part: ArchivePart) => (asked.push(part), next(part)),
    leave: async () => left,
    failed: async (part: ArchivePart, error: string) => void failures.push(`${part} ${error}`),
  };
  const what = { source, write: async () => (write(), { objects: 1, bytes: 1 }) };
  const stop = new AbortController();
  return {
    ports,
    asked,
    failures,
    stop,
    begin: () => archiving(ports, what, stop.signal),
    next: () => archiveNext(ports, what, "jobs"),
  };
}

test.each([
  [null, true, "none", 0],
  [null, false, "none", 0],
  [true, true, "full", 0],
  [true, false, "some", 1],
  [false, true, "some", 0],
  [false, false, "some", 1],
] as const)("a batch that is full: %s, and left: %s, is %s", async (isFull, left, found, lines) => {
  const at = archive({ next: (part) => (isFull === null ? null : batch(part, isFull)), left });
  expect(await at.next()).toBe(found);
  expect(at.ports.lines).toHaveLength(lines);
  expect(at.ports.passed).toEqual(isFull === null ? [] : ["archive.written"]);
});

describe("the parts of the archive", () => {
  test("are asked again a minute after they had nothing", async () => {
    const at = archive({});
    const running = at.begin();
    await at.ports.clock.advance(archiveLimits.lookMs - 1);
    expect(at.asked).toEqual([...archiveParts]);
    await at.ports.clock.advance(1);
    expect(at.asked).toEqual([...archiveParts, ...archiveParts]);
    at.stop.abort();
    await running;
  });

  test("are asked again after a second when they had something, and that one alone", async () => {
    const at = archive({ next: (part) => (part === "audit" ? batch(part, false) : null) });
    const running = at.begin();
    await at.ports.clock.advance(2_999);
    expect(at.asked).toEqual([...archiveParts, "audit", "audit"]);
    at.stop.abort();
    await running;
  });

  test("go on at once while their batches are full, and pause after one that is not", async () => {
    let jobs = 0;
    const at = archive({ next: (part) => (part === "jobs" ? batch(part, ++jobs < 50) : null) });
    const running = at.begin();
    await at.ports.clock.advance(999);
    expect(jobs).toBe(50);
    at.stop.abort();
    await running;
  });

  test("end between two batches at a stop, however many wait", async () => {
    let jobs = 0;
    const at = archive({ next: (part) => (++jobs === 5 && at.stop.abort(), batch(part, true)) });
    await at.begin();
    expect([jobs, at.ports.clock.pending()]).toEqual([5, 0]);
  });

  test("are asked no more once it is to stop", async () => {
    const at = archive({ next: (part) => (part === "runs" ? (at.stop.abort(), null) : null) });
    await at.begin();
    expect(at.asked).toEqual(["jobs", "runs"]);
  });

  test.each([
    [new RangeError("no bucket"), "jobs RangeError: no bucket"],
    ["no bucket", "jobs no bucket"],
    [new Error("x".repeat(600)), `jobs Error: ${"x".repeat(493)}`],
  ])("wait for half a minute, all of them, when one cannot be written: %s", async (error, noted) => {
    const at = archive({
      next: (part) => (part === "jobs" ? batch(part, true) : null),
      write: () => {
        throw error;
      },
    });
    const running = at.begin();
    await at.ports.clock.advance(archiveLimits.retryMs - 1);
    expect(at.asked).toEqual(["jobs"]);
    expect(at.failures).toEqual([noted]);
    await at.ports.clock.advance(1);
    expect(at.failures).toEqual([noted, noted]);
    at.stop.abort();
    await running;
  });
});
