import { Console } from "node:console";
import { randomUUID } from "node:crypto";
import { openRuntime } from "./runtime.ts";
import { keepWhileStopped } from "./debugged.ts";
import { workerPrefix } from "./worker-process.ts";
import type { JobId } from "../machine/job.ts";
import { kindName } from "../machine/closable-texts.ts";
import type { OutMessage } from "../machine/outbox.ts";
import type { Log, Ports, Queue } from "../machine/ports.ts";
import { dayMs } from "../machine/units.ts";
import { afterCommit } from "../run/after-commit.ts";
import { encodeMessage } from "../run/message.ts";
import { createLaneGate } from "../run/claim.ts";
import { createWorker } from "../run/worker.ts";
import { readConfig } from "../stage/config.ts";
import { ownProject } from "../stage/project.ts";

interface RunHere {
  readonly id: string;
  readonly kind: string;
  readonly lane: string;
  /** Of the local system's processes. */
  readonly env: Readonly<Record<string, string>>;
  readonly note: (text: string) => void;
}

/**
 * One attempt of a job in this process, claimed as any worker claims it; one that waits for its time is made due. @returns
 * whether this process has claimed it.
 */
export async function runHere(given: RunHere): Promise<boolean> {
  const { lane, env, note } = given;
  const id = given.id as JobId;
  Object.assign(process.env, env);
  // The answer alone stands on stdout.
  globalThis.console = new Console(process.stderr, process.stderr);
  const config = readConfig(process.env, await ownProject());
  // As a task of Fargate does, it launches none.
  const runtime = await openRuntime(config, { role: "task", lane });
  try {
    await runtime.checkDatabase();
    const name = `${workerPrefix(lane, process.pid)}${randomUUID().slice(0, 8)}`;
    keepWhileStopped(config.databaseUrl, name);
    // What a process on AWS writes to stdout would stand in the answer.
    const ports: Ports = { ...runtime.ports, log: logTo(note), metrics: { add() {}, flush() {} } };
    const message = await messageOf(ports, id, given);
    if (message === null) return false;
    const gate = createLaneGate({ ...ports, lane });
    const worker = createWorker(ports, runtime.registry, { worker: name, lane, stage: config.stage.name, gate });
    const records = [{ messageId: "local", body: encodeMessage(message) }];
    await worker.handle(records, { remainingMs: () => dayMs });
    return (await ports.store.peek([id])).some((job) => job.worker === name);
  } finally {
    await runtime.close();
  }
}

/** The message by which the job may be claimed; null: it does not wait, or is held. */
async function messageOf(
  ports: Ports,
  id: JobId,
  { lane, kind }: RunHere,
): Promise<Pick<OutMessage, "jobId" | "generation" | "trace"> | null> {
  const [job] = await ports.store.peek([id]);
  // Before it is made due: a refusal that is known changes nothing.
  const closed = await ports.store.closed(lane);
  if (job === undefined || closed.includes(lane) || closed.includes(kindName(kind))) return null;
  if (job.state === "QUEUED") return { jobId: id, generation: job.generation, trace: "" };
  const { aftermath } = await ports.store.runNow([id], { caller: "belfry jobs run" });
  const kept: OutMessage[] = [];
  await afterCommit({ ...ports, queue: keeping(ports.queue, id, kept) }, aftermath);
  return kept[0] ?? null;
}

/** Takes this job's message out: a worker of its lane would be faster. */
const keeping = (queue: Queue, id: JobId, kept: OutMessage[]): Queue => ({
  ...queue,
  async send(lane, messages) {
    kept.push(...messages.filter(({ jobId }) => jobId === id));
    const others = messages.flatMap((message, index) => (message.jobId === id ? [] : [{ message, index }]));
    if (others.length === 0) return { failed: [] };
    const { failed } = await queue.send(
      lane,
      others.map(({ message }) => message),
    );
    return { failed: failed.flatMap((place) => others[place]?.index ?? []) };
  },
});

function logTo(note: (text: string) => void): Log {
  const write = (message: string, fields: Record<string, unknown> = {}): void => {
    const { error, ...rest } = fields;
    const why = error instanceof Error ? [error.stack ?? error.message] : [];
    note([message, ...(Object.keys(rest).length === 0 ? [] : [JSON.stringify(rest)]), ...why].join(" "));
  };
  const log: Log = { debug() {}, info: write, warn: write, error: write, child: () => log };
  return log;
}
