import { expect, test } from "vitest";
import type { Ports } from "../../src/machine/ports.ts";
import { createClock } from "../../src/outside/clock.ts";
import { newLife } from "../../src/testing/driver.ts";

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;

test("a worker that dies leaves no timer, which would keep the process of a test", () => {
  const before = timers();
  const life = newLife({ clock: createClock() } as unknown as Ports, () => true);
  const fired: string[] = [];
  life.ports.clock.after(30_000, () => fired.push("lease"));
  void life.ports.clock.sleep(30_000).then(() => fired.push("sleep"));
  expect(timers()).toBe(before + 2);
  void life.end();
  expect(timers()).toBe(before);
  life.ports.clock.after(0, () => fired.push("later"));
  expect(timers()).toBe(before);
  expect(fired).toEqual([]);
});
