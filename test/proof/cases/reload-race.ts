import { join } from "node:path";
import { openConnections } from "../../../src/adapters/postgres/connect.ts";
import { createPostgresStore } from "../../../src/adapters/postgres/store.ts";
import { racingApp } from "../../local/racing-app.ts";
import { raceReloads } from "../../local/reload-race.ts";
import { endMain, startMain, withPassword } from "../main-process.ts";
import { Checklist, type Proof } from "../proof.ts";
import { until } from "../until.ts";

const waitMsMax = 60_000;

/** A second save comes while processes of the first one start. */
export const reloadRace: Proof = {
  name: "reload-race",
  about: "a good save and a bad one at each moment of a reload of npm start: no second without its job, no untrue word",
  guards: ["kept-code", "all-ready"],
  minutesMax: 20,
  async run({ folder, without }) {
    const home = join(folder, "home");
    const app = racingApp(join(folder, "app"));
    app.save("0");
    const main = startMain(home, { without, app: app.url });
    const list = new Checklist();
    try {
      const started = await until("npm start", waitMsMax, () => {
        if (main.child.exitCode !== null) throw new Error(main.errors.join("\n"));
        return main.lines.find((line) => line["is"] === "started");
      });
      const { api = "", database = "" } = started["urls"] as Record<string, string>;
      const connections = openConnections({ url: withPassword(database, home), applicationName: "proof" });
      const within = <T>(what: string, condition: () => T | Promise<T>) =>
        until(what, waitMsMax, condition) as Promise<NonNullable<T>>;
      try {
        const store = createPostgresStore(connections);
        const wrong = await raceReloads({ app, api, store, lines: main.lines, until: within });
        list.expectNone("each reload leaves one code running and says which", wrong);
        list.figure(`${(await store.counts()).SUCCESS} jobs`);
      } finally {
        await connections.close();
      }
    } finally {
      await endMain(main.child);
    }
    return list.verdict();
  },
};
