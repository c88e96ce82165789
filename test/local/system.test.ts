import { describe, expect, it } from "vitest";
import { identityOf } from "../../src/local/process/operating-system.ts";
import { type LocalEvent, startLocal } from "../../src/local/system.ts";
import { freshFolder } from "./folder.ts";
import { begin, environment, finished, newApp, slowMs, storeOf } from "./greeting-system.ts";
import { until } from "./until.ts";

describe("the local system", () => {
  it(
    "carries a scheduled job from the wake to the settled row, shows an edit, and stops without a trace",
    async () => {
      const { home, app, edit } = newApp("hello");
      const reports: LocalEvent[] = [];
      const system = await begin(home, app, {}, (event) => void reports.push(event));
      const store = storeOf(system.urls.database);
      const job = await until("a finished job", () => finished(store), slowMs);
      expect(job).toMatchObject({ kind: "greet", scheduleId: "greet-often", attempt: 1, result: { said: "hello" } });
      expect(await store.history(job.id)).toEqual([]);
      const occurrences = await store.occurrences("greet-often");
      expect(occurrences.find(({ jobId }) => jobId === job.id)).toMatchObject({ outcome: "FIRED" });
      await expect(begin(home, app)).rejects.toThrow(`process ${process.pid}, ${system.urls.api}`);
      expect((await fetch(`${system.urls.api}/jobs/${job.id}`)).status).toBe(200);

      edit("edited");
      // A reload that failed would be waited for in vain, and its reason would be lost.
      const isReload = ({ is }: LocalEvent): boolean => is === "reloaded" || is === "problem";
      await until("the reload", () => reports.some(isReload), 2.5 * slowMs);
      expect(reports.filter(isReload)).toEqual([{ is: "reloaded", file: "app.ts" }]);
      await until(
        "the edit",
        async () => JSON.stringify((await finished(store))?.result) === '{"said":"edited"}',
        2.5 * slowMs,
      );

      const pids = [...system.processes().map(({ pid }) => pid), system.postgres?.pid ?? 0];
      await system.stop();
      expect(pids.filter((pid) => identityOf(pid) !== null)).toEqual([]);
    },
    4 * slowMs,
  );

  it("names the stages there are when it is given another", async () => {
    await expect(startLocal({ home: freshFolder(), stage: "nowhere", environment })).rejects.toThrow(
      'stage "nowhere" is not defined: use one of dev, examples, demo, emulator, smoke, systems, small, prod',
    );
  });
});
