import { create, requests } from "../../examples/taskflow/requests.ts";
import { type Check, noneOf } from "../demo/judge.ts";
import { taskflowJudge } from "../demo/taskflow.ts";
import { untilEnded } from "./ended.ts";
import { type Experiment, newTag } from "./experiment.ts";

const clients = 200;
const runningJobs = "select from belfry.job where kind = 'taskflow-job' and key like $1 || '%' and state = 'RUNNING'";
const lostTries = `
  select from taskflow.job_attempts a join belfry.job j on j.id = a.job_id where j.key like $1 || '%' and a.status = 'LOST'`;

export const sameKey: Experiment = {
  name: "taskflow-same-key",
  about: `${clients} clients send one key at once`,
  proof: "taskflow-walk",
  async run({ api, evidence }, { say }) {
    const tag = `same${newTag()}`;
    const [one] = requests(1, tag);
    if (one === undefined) throw new Error("one request was asked for");
    const answers = await Promise.all(Array.from({ length: clients }, () => create(api, one)));
    const judge = taskflowJudge([one], { prefix: `report:${tag}-`, canceled: new Set() });
    const ended = await untilEnded(judge, evidence, say);
    const [ids, made] = [
      new Set(answers.map(({ jobId }) => jobId)).size,
      answers.filter(({ created }) => created).length,
    ];
    const isOne: Check = {
      name: "all clients get one job, and one of them made it",
      pass: ids === 1 && made === 1,
      detail: `${clients} clients, ${ids} job`,
    };
    return [isOne, ended, ...(await judge.checks(evidence))];
  },
};

export const mix: Experiment = {
  name: "taskflow-mix",
  about: "jobs that succeed, are refused for a while or for good, hang and die, side by side: five minutes",
  proof: "taskflow-walk",
  async run({ api, evidence }, { say }) {
    const tag = `mix${newTag()}`;
    const asked = requests(50, tag);
    await Promise.all(asked.flatMap((one) => [create(api, one), create(api, one)]));
    const judge = taskflowJudge(asked, { prefix: `report:${tag}-`, canceled: new Set() });
    return [await untilEnded(judge, evidence, say), ...(await judge.checks(evidence))];
  },
};

export const workersKilled: Experiment = {
  name: "taskflow-workers-killed",
  about: "every worker of the lane is killed while it runs jobs",
  proof: "taskflow-walk",
  async run({ api, evidence, pids }, { say }) {
    const tag = `kill${newTag()}`;
    const prefix = `report:${tag}-`;
    const mine = requests(12, tag);
    await Promise.all(mine.map((one) => create(api, one)));
    let killed = 0;
    const judge = taskflowJudge(mine, { prefix, canceled: new Set() });
    const ended = await untilEnded(judge, evidence, say, async () => {
      if (killed > 0 || (await evidence.db.query(runningJobs, [prefix])).rowCount === 0) return;
      for (const pid of pids("worker taskflow")) {
        process.kill(pid, "SIGKILL");
        killed += 1;
      }
    });
    const lost = (await evidence.db.query(lostTries, [prefix])).rowCount ?? 0;
    const found = noneOf(
      "the killed workers are found, and their jobs run again",
      lost === 0 ? ["no try is LOST"] : [],
      `${killed} workers killed, ${lost} tries lost`,
    );
    return [found, ended, ...(await judge.checks(evidence))];
  },
};
