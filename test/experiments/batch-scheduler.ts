import { readLedger } from "../../examples/fake/ledger.ts";
import { type Check, noneOf } from "../demo/judge.ts";
import { until } from "../proof/until.ts";
import { type Experiment, newTag } from "./experiment.ts";

const waitMs = 120_000;
const ends = "select state::text from belfry.job where id = any($1::bigint[]) and state >= 'SUCCESS'";

export const twoAtOnce: Experiment = {
  name: "batch-scheduler-two-at-once",
  about: "one scheduler is started twice at once",
  proof: "schedulers-50",
  async run({ api, evidence }): Promise<readonly Check[]> {
    const tag = newTag();
    const trigger = async (n: number): Promise<string> => {
      const body = JSON.stringify({ key: `twice-${tag}-${n}` });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`${api}/schedules/outbox-retry/trigger`, { method: "POST", headers, body });
      return ((await answer.json()) as { id: string }).id;
    };
    const ids = await Promise.all([trigger(1), trigger(2)]);
    const read = async () => (await evidence.db.query<{ state: string }>(ends, [ids])).rows;
    const rows = await until("both to end", waitMs, async () => {
      const found = await read();
      return found.length === ids.length && found;
    });
    const states = rows.map(({ state }) => state).toSorted();
    const taken = readLedger(evidence.ledgers, "batch-scheduler-publisher").filter(
      (line) => line.outcome === "accepted",
    );
    const twice = [...Map.groupBy(taken, ({ key }) => key)].filter(([, all]) => all.length > 1).map(([key]) => key);
    return [
      {
        name: "one runs, and the other is skipped by the lock",
        pass: states.filter((state) => state === "SKIPPED").length >= 1,
        detail: states.join(", "),
      },
      noneOf("the queue took no message twice", twice, `${taken.length} messages`),
    ];
  },
};
