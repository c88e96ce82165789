import { readLedger } from "../../examples/fake/ledger.ts";
import { type Check, noneOf } from "../demo/judge.ts";
import { until } from "../proof/until.ts";
import { type Experiment, newTag, post, repeated } from "./experiment.ts";

const ends = "select state::text from belfry.job where id = any($1::bigint[]) and state >= 'SUCCESS'";

export const twoAtOnce: Experiment = {
  name: "batch-scheduler-two-at-once",
  about: "one scheduler is started twice at once",
  proof: "schedulers-50",
  async run({ api, evidence: { db, ledgers } }): Promise<readonly Check[]> {
    const tag = newTag();
    const trigger = (n: number) => post(`${api}/schedules/outbox-retry/trigger`, { key: `twice-${tag}-${n}` });
    const ids = (await Promise.all([1, 2].map(trigger))).map(({ id }) => id);
    const states = await until("both to end", 120_000, async () => {
      const { rows } = await db.query<{ state: string }>(ends, [ids]);
      return rows.length === ids.length && rows.map(({ state }) => state).toSorted();
    });
    const taken = readLedger(ledgers, "batch-scheduler-publisher").filter(({ outcome }) => outcome === "accepted");
    const name = "one runs, and the other is skipped by the lock";
    return [
      { name, pass: states.includes("SKIPPED"), detail: states.join(", ") },
      noneOf("the queue took no message twice", repeated(taken), `${taken.length} messages`),
    ];
  },
};
