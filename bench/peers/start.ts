import { fork } from "node:child_process";
import { once } from "node:events";
import type { Answer, Ask, Setting } from "./contender.ts";

/** A contender in its process, asked one thing at a time. */
export interface Started {
  ask<D extends Exclude<Answer, { failed: string }>["did"]>(
    what: Ask,
    expected: D,
  ): Promise<Extract<Answer, { did: D }>>;
  close(): Promise<void>;
}

/** A probe whose job is lost is never answered. */
const answerMsMax = 180_000;

/** @throws Error when the process ends, fails or is late, with its words. */
export async function start(setting: Setting): Promise<Started> {
  const child = fork(new URL("process.ts", import.meta.url), [JSON.stringify(setting)]);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`${setting.name} ended with code ${code}`);
  });
  ended.catch(() => {});
  const next = async (about: string): Promise<Answer> => {
    const late = AbortSignal.timeout(answerMsMax);
    const said = once(child, "message", { signal: late }).catch(() => {
      throw new Error(`${setting.name} did not end "${about}" within ${answerMsMax} ms: a job of it may be lost`);
    });
    const [answer] = (await Promise.race([said, ended])) as [Answer];
    if ("failed" in answer) throw new Error(`${setting.name} failed: ${answer.failed}`);
    return answer;
  };
  await next("its start");
  return {
    async ask(what, expected) {
      const answer = next(what.do);
      child.send(what);
      const said = await answer;
      if ("failed" in said || said.did !== expected)
        throw new Error(`${setting.name} answered ${what.do} with ${JSON.stringify(said)}`);
      return said as Extract<Answer, { did: typeof expected }>;
    },
    async close() {
      const exit = once(child, "exit");
      child.send({ do: "close" } satisfies Ask);
      await exit;
    },
  };
}
