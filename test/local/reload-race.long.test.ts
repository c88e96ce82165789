import { join } from "node:path";
import { expect, it } from "vitest";
import { freshFolder } from "./folder.ts";
import { slowMs, startProcess, storeOf } from "./greeting-system.ts";
import { racingApp } from "./racing-app.ts";
import { raceReloads } from "./reload-race.ts";
import { until } from "./until.ts";

it(
  "runs the old code or the new, never none, and says which, whenever a bad save follows a good one",
  async () => {
    const home = freshFolder();
    const app = racingApp(join(home, "app"));
    app.save("0");
    const { api, database, lines } = await startProcess(home, app.url);
    const within = <T>(what: string, condition: () => T | Promise<T>) => until(what, condition, slowMs);
    expect(await raceReloads({ app, api, store: storeOf(database), lines, until: within })).toEqual([]);
  },
  10 * slowMs,
);
