import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { LockStore } from "../../core/ports/ports.ts";

/**
 * Releases every held lock. Right only where all holders are known to be gone: a start has ended the processes of
 * the last run, and without this the first scheduler task would watch a dead one for a whole lease.
 * @returns how many were held.
 */
export async function releaseLocks(client: DynamoDBClient, tableName: string, locks: LockStore): Promise<number> {
  const { Items } = await client.send(new ScanCommand({ TableName: tableName, ConsistentRead: true }));
  let released = 0;
  for (const { name, owner, fence } of Items ?? []) {
    if (name?.S === undefined || owner?.S === undefined) continue;
    if (await locks.release(name.S, owner.S, Number(fence?.N ?? 0))) released += 1;
  }
  return released;
}
