import { describe, expect, it } from "vitest";
import type { JobId } from "../../src/machine/job.ts";
import { decodeMessage } from "../../src/run/message.ts";
import type { OutMessage } from "../../src/machine/outbox.ts";
import { eachTest } from "../support/each-test.ts";
import type { Queue } from "../../src/machine/ports.ts";

/** A queue and a way to see what arrived. */
export interface OpenQueue {
  readonly queue: Queue;
  /** Bodies that are visible now in the lane `mail`. */
  readonly receive: () => Promise<readonly string[]>;
}

export const message = (id: number, delayMs = 0): OutMessage => ({
  jobId: String(id) as JobId,
  generation: id,
  trace: `trace-${id}`,
  delayMs,
});

/** What every queue must do. `open` gives one with empty lanes `mail` and `push`. */
export function queueContract(what: string, open: () => Promise<OpenQueue>): void {
  describe(`the queue ${what}`, () => {
    const { queue, receive } = eachTest(open);

    it("delivers the message it accepted, with job, generation and trace", async () => {
      expect(await queue.send("mail", [message(7)])).toEqual({ failed: [] });
      const bodies = await receive();
      expect(bodies.map(decodeMessage)).toEqual([{ jobId: "7", generation: 7, trace: "trace-7" }]);
    });

    it("takes ten messages in one call", async () => {
      const ten = Array.from({ length: 10 }, (_, index) => message(index + 1));
      expect(await queue.send("mail", ten)).toEqual({ failed: [] });
      expect(await queue.depth("mail")).toEqual({ visible: 10, inFlight: 0, delayed: 0 });
    });

    it("holds a delayed message back, and counts it as delayed", async () => {
      await queue.send("mail", [message(1, 30_000)]);
      expect(await receive()).toEqual([]);
      expect(await queue.depth("mail")).toEqual({ visible: 0, inFlight: 0, delayed: 1 });
    });

    it("delivers at once what is due in less than a second, or is late", async () => {
      await queue.send("mail", [message(1, 999), message(2, -5_000)]);
      expect(await queue.depth("mail")).toEqual({ visible: 2, inFlight: 0, delayed: 0 });
    });

    it("accepts a delay beyond what a queue can do: the worker sends it on", async () => {
      expect(await queue.send("mail", [message(1, 3_600_000)])).toEqual({ failed: [] });
    });

    it("counts a received message as in flight", async () => {
      await queue.send("mail", [message(1)]);
      await receive();
      expect(await queue.depth("mail")).toEqual({ visible: 0, inFlight: 1, delayed: 0 });
    });

    it("keeps lanes apart", async () => {
      await queue.send("push", [message(1)]);
      expect(await receive()).toEqual([]);
    });
  });
}
