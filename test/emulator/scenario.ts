/** The core of the system on the deployed parts: the API's function, queues, workers, drain and two schedulers. */
import { signedFetch } from "../../src/aws/signed-fetch.ts";
import { until } from "../proof/until.ts";
import type { Aws } from "../../src/aws/aws-call.ts";
import { everyCommand } from "./commands.ts";
import { wake } from "./scheduler.ts";

/** What the steps need that speak to the API only: the same in an account of AWS. */
export interface DeployedApi {
  readonly aws: Pick<Aws, "region">;
  /** From the stack's outputs. */
  readonly apiUrl: string;
}

export interface Deployed extends DeployedApi {
  readonly aws: Aws;
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
  readonly taskDefinition: string;
  /** The scheduler task's bundle, as the image has it. */
  readonly taskBundle: string;
  /** Rows of the team's database. */
  readonly count: (sql: string) => Promise<number>;
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const waitMs = 90_000;
/** A task of Fargate, and then the minute that it plans. */
const fireMs = 360_000;

export type Step = readonly [name: string, run: (deployed: Deployed) => Promise<string>];

export const steps: readonly Step[] = [
  ["the API answers signed requests and knows its schema", health],
  ["a job that is enqueued is run by the deployed worker", (deployed) => succeeds(deployed)],
  ["a job whose first two tries fail succeeds with the third, and one that goes on failing stops there", retries],
  ["a second enqueue of a key makes no second job", once],
  ["a job that waits is cancelled, and no message of it runs", cancels],
  ["two schedulers: one passes, the other says who holds the lock", schedulers],
  ["the time of a schedule fires", fires],
  ["a job of an unknown kind fails, is a dead letter, and is sent again by a redrive", redrives],
  ["an unreadable message ends as a row, and the queues are empty", poison],
  ["every command of the command line is answered by the deployed API", ({ aws }) => everyCommand(aws)],
];

export async function health(deployed: DeployedApi): Promise<string> {
  const { status, body } = await call(deployed, "GET", "/health");
  if (status !== 200) throw new Error(`/health answered ${status}: ${JSON.stringify(body)}`);
  return JSON.stringify(body);
}

export async function succeeds(deployed: DeployedApi, key = "succeeds", job: object = {}): Promise<string> {
  const id = await enqueue(deployed, key, job);
  await until(`job ${id} to succeed`, waitMs, async () => (await stateOf(deployed, id)) === "SUCCESS");
  return `job ${id}`;
}

/** By themselves: no request asks for the tries that follow a failure. */
export async function retries(deployed: DeployedApi): Promise<string> {
  const tries = async (key: string, failures: number, end: string): Promise<string> => {
    const id = await enqueue(deployed, key, { kind: "drill", payload: { failures } });
    await until(`job ${id} to be ${end}`, waitMs, async () => (await stateOf(deployed, id)) === end);
    const { body } = await call(deployed, "GET", `/jobs/${id}`);
    if (body["attempt"] !== 3) throw new Error(`job ${id} is ${end} after ${String(body["attempt"])} tries, not 3`);
    return id;
  };
  const [well, ill] = await Promise.all([tries("recovers", 2, "SUCCESS"), tries("stays-ill", 9, "FAILED")]);
  return `job ${well} succeeded, job ${ill} failed, each at its third try`;
}

/** What a scheduler task planned, the worker has done. */
export async function fires(deployed: DeployedApi): Promise<string> {
  const path = "/schedules/hello-every-minute/occurrences?limit=50";
  const fired = await until("a time of hello-every-minute to fire", fireMs, async () => {
    const { body } = await call(deployed, "GET", path);
    const all = (body["occurrences"] ?? []) as { outcome: string; nominalAt: string }[];
    return all.find(({ outcome }) => outcome === "FIRED");
  });
  return `the one of ${fired.nominalAt}`;
}

export async function once(deployed: DeployedApi): Promise<string> {
  const first = await enqueue(deployed, "again");
  const second = await enqueue(deployed, "again");
  if (first !== second) throw new Error(`one key made the jobs ${first} and ${second}`);
  return `job ${first} twice`;
}

export async function cancels(deployed: DeployedApi): Promise<string> {
  const id = await enqueue(deployed, "cancels", { delay: "1h" });
  const { status, body } = await call(deployed, "POST", `/jobs/${id}/cancel`, {});
  if (status >= 300) throw new Error(`cancel answered ${status}: ${JSON.stringify(body)}`);
  const state = await stateOf(deployed, id);
  if (state !== "CANCELED") throw new Error(`job ${id} is ${state} after cancel`);
  return `job ${id}`;
}

async function schedulers({ aws, taskDefinition, taskBundle, count }: Deployed): Promise<string> {
  const passes = await Promise.all([wake(aws, taskDefinition, taskBundle), wake(aws, taskDefinition, taskBundle)]);
  for (const { code, said } of passes) if (code !== 0) throw new Error(`a scheduler ended with ${code}:\n${said}`);
  const held = passes.filter(({ said }) => said.includes("held by")).length;
  if (held !== 1)
    throw new Error(`${held} of two schedulers were held off:\n${passes.map(({ said }) => said).join("\n")}`);
  const planned = await count("select count(*)::int from belfry.occurrence");
  if (planned === 0) throw new Error("the pass planned no occurrence of hello-every-minute");
  return `${planned} occurrences planned`;
}

/** As long after a release that forgot a kind: people see why, and what they send again is tried again. */
async function redrives(deployed: Deployed): Promise<string> {
  const { aws, taskDefinition, taskBundle, count } = deployed;
  const id = await enqueue(deployed, "of-a-kind-that-goes", { delay: "1h" });
  await count(`with gone as (
    update belfry.job set kind = 'gone', due_at = belfry.now(), created_at = created_at - interval '1 day' where id = ${Number(id)} and state = 'PENDING' returning 1
  ) select count(*)::int as count from gone`);
  const failures = () =>
    count(`select count(*)::int from belfry.attempt where job_id = ${Number(id)} and outcome = 'FAILED'`);
  await wake(aws, taskDefinition, taskBundle);
  await until(`job ${id} to fail`, waitMs, async () => (await failures()) === 1);
  const { body } = await call(deployed, "GET", "/dead-letters");
  if (!JSON.stringify(body).includes("UNKNOWN_KIND")) throw new Error(`no dead letter of it: ${JSON.stringify(body)}`);
  await call(deployed, "POST", `/jobs/${id}/retry`, {});
  await until(`job ${id} to fail again`, waitMs, async () => (await failures()) === 2);
  return `job ${id} twice`;
}

async function poison({ aws, queueUrl, deadLetterUrl, count }: Deployed): Promise<string> {
  // Straight to where five receives would take it: each of them would last a visibility timeout of minutes.
  await aws.json("sqs", "AmazonSQS.SendMessage", { QueueUrl: deadLetterUrl, MessageBody: "{not json" });
  await until("the drain to keep the message as a row", waitMs, async () => {
    return (await count("select count(*)::int from belfry.quarantine")) > 0;
  });
  await until(
    "the queues to be empty",
    waitMs,
    async () => (await depth(aws, queueUrl)) + (await depth(aws, deadLetterUrl)) === 0,
  );
  return "kept as a row";
}

async function depth(aws: Aws, url: string): Promise<number> {
  const { Attributes } = await aws.json<{ Attributes: Record<string, string> }>("sqs", "AmazonSQS.GetQueueAttributes", {
    QueueUrl: url,
    AttributeNames: ["All"],
  });
  return (
    Number(Attributes["ApproximateNumberOfMessages"]) + Number(Attributes["ApproximateNumberOfMessagesNotVisible"])
  );
}

async function enqueue(deployed: DeployedApi, key: string, options: object = {}): Promise<string> {
  const { status, body } = await call(deployed, "POST", "/jobs", { kind: "hello", key, ...options });
  if (status >= 300 || typeof body["id"] !== "string")
    throw new Error(`enqueue answered ${status}: ${JSON.stringify(body)}`);
  return body["id"];
}

async function stateOf(deployed: DeployedApi, id: string): Promise<string> {
  const { body } = await call(deployed, "GET", `/jobs/${id}`);
  return String(body["state"]);
}

export async function call(
  { aws, apiUrl }: DeployedApi,
  method: "GET" | "POST",
  path: string,
  input?: unknown,
): Promise<Answer> {
  const response = await signedFetch({
    url: new URL(path, apiUrl).href,
    method,
    service: "lambda",
    region: aws.region,
    headers: { "content-type": "application/json" },
    timeoutMs: waitMs,
    ...(input === undefined ? {} : { body: JSON.stringify(input) }),
  });
  const text = await response.text();
  try {
    return { status: response.status, body: JSON.parse(text) as Answer["body"] };
  } catch (cause) {
    throw new Error(`${method} ${path} answered ${response.status} without JSON: ${text.slice(0, 300)}`, { cause });
  }
}
