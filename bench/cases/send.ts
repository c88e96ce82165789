import { SendMessageBatchCommand } from "@aws-sdk/client-sqs";
import { createSqsQueue } from "../../src/aws/queue.ts";
import { contractLimits } from "../../src/machine/contract-limits.ts";
import { deliveryLimits } from "../../src/machine/delivery-limits.ts";
import { encodeMessage } from "../../src/run/message.ts";
import type { JobId } from "../../src/machine/job.ts";
import { relay } from "../../src/run/relay.ts";
import type { Ground, Sqs } from "../ground.ts";
import { compared, inTurns, perSecond, type Figure } from "../measure.ts";
import { lane, pagesOf, portsWith, shared } from "../ports.ts";
import { emptyTables, loadWaiting } from "../rows.ts";

const rows = 5_000;

/** The relay with its messages sent to the SQS API and confirmed, beside the SDK alone sending as many. */
export async function send(ground: Ground): Promise<readonly Figure[]> {
  const database = await ground.database();
  const sqs = await ground.sqs();
  const urls = { product: await sqs.queue("product"), roof: await sqs.queue("roof") };
  const queue = createSqsQueue({ client: sqs.client, names: {}, urls: { [lane]: urls.product } });
  const ports = portsWith(database.store(1), queue);
  const pairs = await inTurns({
    async product() {
      await emptyTables(database.pool);
      await loadWaiting(database.pool, "belfry", rows);
      return perSecond(rows, async () => {
        const { relayed } = await relay(ports);
        if (relayed !== rows) throw new Error(`the relay sent ${relayed} of ${rows} messages`);
      });
    },
    roof: () => perSecond(rows, () => sendBare(sqs, urls.roof)),
  });
  return [compared("send", "messages/s", pairs, { ratioMin: 0.9 })];
}

/** As many calls under way as the product has. */
async function sendBare({ bare }: Sqs, url: string): Promise<void> {
  const bodies = Array.from({ length: rows }, (_, n) =>
    encodeMessage({ jobId: String(n + 1) as JobId, generation: 1, trace: "trace" }),
  );
  await shared(pagesOf(bodies, contractLimits.sendBatchMax), deliveryLimits.sendConcurrencyMax, async (page) => {
    const Entries = page.map((MessageBody, index) => ({ Id: String(index), MessageBody, DelaySeconds: 0 }));
    const { Failed } = await bare.send(new SendMessageBatchCommand({ QueueUrl: url, Entries }));
    if (Failed !== undefined && Failed.length > 0) throw new Error(`the queue refused ${Failed.length} messages`);
  });
}
