import { availableParallelism, loadavg } from "node:os";
import { create, type Request, requests } from "../../examples/taskflow/requests.ts";
import { type Check, timed } from "../demo/judge.ts";
import { taskflowJudge } from "../demo/taskflow.ts";
import { letPass } from "../proof/until.ts";
import { untilEnded } from "./ended.ts";
import { type Experiment, newTag, type Settings } from "./experiment.ts";

/** Of forty requests: six create a job, six repeat one of these at once, one cancels, and the others look. */
const share = { of: 40, creations: 6, cancelAt: 12 } as const;
/** Less than this is the clock of this machine, not a wait for a connection. */
const lateMsMin = 10;
const waitMsMax = 15_000;
const sendingsMax = 10;
/** As the client of the example says it. */
const noAnswer = 599;
const rateShareMin = 0.95;
const p99MsMax = 1_000;

type Operation = "create" | "repeat" | "look" | "cancel";

interface Made {
  readonly request: Request;
  readonly id: string;
}

/** The mix of the author's load test: jobs that succeed, that are refused for a while, and that are rejected. */
const mixOf = (count: number, tag: string): readonly Request[] =>
  requests(count * 2, tag)
    .filter(({ type }) => type !== "hang" && type !== "die")
    .slice(0, count);

export const load: Experiment = {
  name: "taskflow-load",
  about: "many clients create, look and cancel at --rate for --seconds: what became of each job, by the ledger",
  proof: "taskflow-walk",
  async run(system, settings) {
    const tag = `load${newTag()}`;
    const drive = new Drive(
      system.api,
      mixOf(Math.ceil((settings.rate * settings.seconds * share.creations) / share.of) + 1, tag),
    );
    await drive.send(settings);
    const judge = taskflowJudge(drive.asked, { prefix: `report:${tag}-`, canceled: drive.canceled });
    const drained = await untilEnded(judge, system.evidence, settings.say);
    return [...drive.checks(settings), drained, ...(await judge.checks(system.evidence))];
  },
};

/**
 * Requests go out at their times, whether earlier ones were answered or not, unless too many have no answer: then they wait,
 * and are counted. Each time of an answer counts from when its request was due.
 */
class Drive {
  readonly canceled = new Set<string>();
  readonly #api: string;
  readonly #mix: readonly Request[];
  readonly #made: Made[] = [];
  readonly #took: Record<Operation, number[]> = { create: [], repeat: [], look: [], cancel: [] };
  readonly #wrong: string[] = [];
  readonly #waits: number[] = [];
  #unanswered = 0;
  #jobs = 0;
  #seconds = 0;

  constructor(api: string, mix: readonly Request[]) {
    this.#api = api;
    this.#mix = mix;
  }

  get asked(): readonly Request[] {
    return this.#mix.slice(0, this.#jobs);
  }

  async send({ rate, seconds, inFlight, say }: Settings): Promise<void> {
    const beganMs = performance.now();
    const count = Math.floor(rate * seconds);
    let next = 0;
    // Each connection takes the next request by its time; one that is taken after its time has waited for a connection.
    const connection = async (): Promise<void> => {
      while (next < count) {
        const n = next++;
        if (n > 0 && n % (rate * 10) === 0) say(`${n} of ${count} requests sent, ${this.#answered} answered`);
        const dueMs = beganMs + (n * 1_000) / rate;
        const lateMs = performance.now() - dueMs;
        if (lateMs < 0) await letPass(-lateMs);
        else if (lateMs > lateMsMin) this.#waits.push(lateMs);
        await this.#one(n, dueMs);
      }
    };
    await Promise.all(Array.from({ length: inFlight }, connection));
    this.#seconds = (performance.now() - beganMs) / 1_000;
  }

  checks({ rate, inFlight }: Settings): readonly Check[] {
    const kept = this.#answered / this.#seconds;
    const load1 = (loadavg()[0] ?? 0) / availableParallelism();
    const times = Object.entries(this.#took).map(([name, took]) => `${took.length} ${name} ${quantiles(took)}`);
    const all = Object.values(this.#took).flat();
    const waited = `${this.#waits.length} waited for one of ${inFlight} connections, at most ${quantile(this.#waits, 1)} ms`;
    return [
      {
        name: "every request has the answer that its key calls for",
        pass: this.#wrong.length === 0,
        detail: this.#wrong.length === 0 ? `${this.#answered} answers` : this.#wrong.slice(0, 5).join(", "),
      },
      timed({
        name: `${rate} requests a second are answered as they come, p99 within ${p99MsMax} ms`,
        pass: this.#unanswered === 0 && kept >= rate * rateShareMin && quantile(all, 0.99) <= p99MsMax,
        detail: `${kept.toFixed(0)} a second, ${load1.toFixed(1)} processes a core, ${this.#unanswered} without an answer, ${waited}; ${times.join(", ")}`,
      }),
    ];
  }

  get #answered(): number {
    return Object.values(this.#took).reduce((sum, took) => sum + took.length, 0);
  }

  async #one(n: number, dueMs: number): Promise<void> {
    const slot = n % share.of;
    const first = Math.floor(n / share.of) * share.creations;
    const operation =
      slot >= share.creations * 2
        ? slot === share.cancelAt
          ? "cancel"
          : "look"
        : slot % 2 === 0
          ? "create"
          : "repeat";
    const wrong = await this.#do(operation, first + Math.floor(slot / 2), n);
    this.#took[operation].push(performance.now() - dueMs);
    if (wrong?.endsWith(` ${noAnswer}`) === true) this.#unanswered += 1;
    else if (wrong !== null) this.#wrong.push(`${operation}: ${wrong}`);
  }

  async #do(operation: Operation, job: number, n: number): Promise<string | null> {
    if (operation === "create" || operation === "repeat") return this.#create(job);
    // Half of the cancels come to a job that has just begun, and half to one that is likely to have ended.
    const back = operation === "cancel" ? (Math.floor(n / share.of) % 2 === 0 ? 1 : 200) : 1 + ((n * 7) % 100);
    const made = this.#made[Math.max(0, this.#made.length - back)];
    if (made === undefined) return null;
    return operation === "look" ? this.#look(made) : this.#cancel(made);
  }

  async #create(job: number): Promise<string | null> {
    const request = this.#mix[job];
    if (request === undefined) return `there is no request ${job}`;
    this.#jobs = Math.max(this.#jobs, job + 1);
    const { status, created, jobId: id } = await create(this.#api, request);
    if (created) this.#made.push({ request, id });
    return status === 200 || status === 201 ? null : `${request.job_key} ${status}`;
  }

  async #look({ request: { job_key: key }, id }: Made): Promise<string | null> {
    const { status, body } = await call(`${this.#api}/apps/taskflow/jobs/${key}`);
    return status === 200 && body["id"] === id ? null : `${key} ${status}`;
  }

  async #cancel({ request: { job_key: key } }: Made): Promise<string | null> {
    const { status, body } = await call(`${this.#api}/apps/taskflow/jobs/${key}/cancel`, "POST");
    if (status === 200) this.canceled.add(key);
    const isRight = status === 200 ? body["status"] === "CANCELED" : status === 409 && body["canceled"] === false;
    return isRight ? null : `${key} ${JSON.stringify(body["status"])} ${status}`;
  }
}

/** Sent again when it got no answer or a 5xx, as `create` does: to cancel what is canceled is answered with yes. */
async function call(url: string, method = "GET"): Promise<{ status: number; body: Readonly<Record<string, unknown>> }> {
  for (let left = sendingsMax; ; left--) {
    try {
      const answer = await fetch(url, { method, signal: AbortSignal.timeout(waitMsMax) });
      const body = (await answer.json()) as Record<string, unknown>;
      if (answer.status < 500 || left === 0) return { status: answer.status, body };
    } catch {
      if (left === 0) return { status: noAnswer, body: {} };
    }
  }
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

const quantiles = (took: readonly number[]): string => `p50 ${quantile(took, 0.5)} p99 ${quantile(took, 0.99)} ms`;
