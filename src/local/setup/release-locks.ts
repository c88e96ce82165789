import { type DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import type { LockStore } from "../../core/ports/ports.ts";

/**
 * Releases every held lock. Only for a start, which has ended all processes of the last run: without it the first
 * scheduler task would wait a whole lease for a dead holder.
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
