import {
  type AttributeValue,
  ConditionalCheckFailedException,
  DynamoDBClient,
  GetItemCommand,
  ResourceNotFoundException,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import type { LockItem, LockStore } from "../machine/ports.ts";
import { at, type AwsSettings, timeouts } from "./address.ts";

const lockMsMax = 2_000;
/** The lock repeats calls itself within its outage bound, and reads back first. */
const lockAttemptsMax = 3;

export function dynamodbClient(settings: AwsSettings): DynamoDBClient {
  return new DynamoDBClient({
    region: settings.region,
    maxAttempts: lockAttemptsMax,
    requestHandler: timeouts(lockMsMax),
    ...at(settings.dynamodbEndpoint),
  });
}

export interface DynamoLockStoreOptions {
  readonly client: DynamoDBClient;
  readonly tableName: string;
}

/** Every attribute by placeholder: `name` and `owner` are reserved words. */
const names = {
  "#owner": "owner",
  "#rvn": "rvn",
  "#fence": "fence",
  "#leaseMs": "leaseMs",
  "#silentRvn": "silentRvn",
  "#silentMs": "silentMs",
  "#seenAt": "seenAt",
};

/**
 * The lock store on one DynamoDB table with key `name`: single items, conditional writes, consistent reads.
 * The SDK repeats a call whose answer was lost, and the repeat then fails its own condition; so a refused write is
 * read back, and counts as done when the item shows exactly what was asked for.
 * @throws Error when the outcome is unknown: the caller reads back, then decides.
 */
export function createDynamoLockStore(options: DynamoLockStoreOptions): LockStore {
  const { read, update } = itemsOf(options);
  return {
    read,
    async take(name, { owner, rvn, leaseMs, overRvn }) {
      const change = takeChange({ owner, rvn, leaseMs, overRvn });
      const taken = await update(name, change, (item) => item.owner === owner && item.rvn === rvn);
      return taken?.fence ?? null;
    },
    async renew(name, owner, fence, rvn) {
      const change = {
        update: "SET #rvn = :rvn",
        condition: ours,
        values: { ...holder(owner, fence), ":rvn": { S: rvn } },
      };
      return (await update(name, change)) !== null;
    },
    async release(name, owner, fence) {
      const change = { update: "REMOVE #owner", condition: ours, values: holder(owner, fence) };
      return (await update(name, change, (item) => item.owner === null && item.fence === fence)) !== null;
    },
    async raise(name, owner, to) {
      const change = {
        update: "SET #fence = :to",
        condition: "#owner = :owner AND #fence < :to",
        values: { ":owner": { S: owner }, ":to": { N: String(to) } },
      };
      return (await update(name, change, (item) => item.owner === owner && item.fence === to)) !== null;
    },
    async observe(name, { rvn, silentMs, seenAt }) {
      await update(name, {
        update: "SET #silentRvn = :rvn, #silentMs = :ms, #seenAt = :at",
        condition: "#rvn = :rvn AND (attribute_not_exists(#silentRvn) OR #silentRvn <> :rvn OR #silentMs <= :ms)",
        values: {
          ":rvn": { S: rvn },
          ":ms": { N: String(Math.floor(silentMs)) },
          ":at": seenAt === null ? { NULL: true } : { N: String(Math.ceil(seenAt)) },
        },
      });
    },
  };
}

interface Items {
  read(name: string): Promise<LockItem | null>;
  /** @returns the item after the write, or null when the condition failed and the item is not as it was to become. */
  update(name: string, change: Change, isDone?: (item: LockItem) => boolean): Promise<LockItem | null>;
}

function itemsOf({ client, tableName }: DynamoLockStoreOptions): Items {
  const key = (name: string) => ({ TableName: tableName, Key: { name: { S: name } } });
  const read: Items["read"] = async (name) => {
    const { Item } = await named(tableName, client.send(new GetItemCommand({ ...key(name), ConsistentRead: true })));
    return Item === undefined ? null : itemOf(Item);
  };
  return {
    read,
    async update(name, change, isDone) {
      const command = new UpdateItemCommand({ ...key(name), ...expressions(change), ReturnValues: "ALL_NEW" });
      try {
        const { Attributes } = await named(tableName, client.send(command));
        return itemOf(Attributes ?? {});
      } catch (error) {
        if (!(error instanceof ConditionalCheckFailedException)) throw error;
      }
      const item = isDone === undefined ? null : await read(name);
      return item !== null && isDone?.(item) === true ? item : null;
    },
  };
}

/** A placeholder that is declared but not used is refused. */
function expressions(change: Change) {
  const text = `${change.update} ${change.condition}`;
  return {
    UpdateExpression: change.update,
    ConditionExpression: change.condition,
    ExpressionAttributeNames: Object.fromEntries(
      Object.entries(names).filter(([placeholder]) => text.includes(placeholder)),
    ),
    ExpressionAttributeValues: change.values,
  };
}

interface Change {
  readonly update: string;
  readonly condition: string;
  readonly values: Record<string, AttributeValue>;
}

const ours = "#owner = :owner AND #fence = :fence";
const holder = (owner: string, fence: number) => ({ ":owner": { S: owner }, ":fence": { N: String(fence) } });

function takeChange(next: { owner: string; rvn: string; leaseMs: number; overRvn: string | null }): Change {
  const values = {
    ":owner": { S: next.owner },
    ":rvn": { S: next.rvn },
    ":leaseMs": { N: String(next.leaseMs) },
    ":one": { N: "1" },
  };
  const update = "SET #owner = :owner, #rvn = :rvn, #leaseMs = :leaseMs ADD #fence :one";
  if (next.overRvn === null) return { update, values, condition: "attribute_not_exists(#owner)" };
  return {
    update,
    values: { ...values, ":over": { S: next.overRvn } },
    condition: "attribute_not_exists(#owner) OR #rvn = :over",
  };
}

function itemOf(attributes: Record<string, AttributeValue>): LockItem {
  const rvn = attributes["rvn"]?.S ?? "";
  return {
    owner: attributes["owner"]?.S ?? null,
    rvn,
    fence: Number(attributes["fence"]?.N ?? 0),
    leaseMs: Number(attributes["leaseMs"]?.N ?? 0),
    ...seenOf(attributes, rvn),
  };
}

/** What was seen of an earlier `rvn` says nothing of this one. */
function seenOf(attributes: Record<string, AttributeValue>, rvn: string): Pick<LockItem, "silentMs" | "seenAt"> {
  if (attributes["silentRvn"]?.S !== rvn) return { silentMs: 0, seenAt: null };
  const at = attributes["seenAt"]?.N;
  return { silentMs: Number(attributes["silentMs"]?.N ?? 0), seenAt: at === undefined ? null : Number(at) };
}

async function named<T>(tableName: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (cause) {
    if (!(cause instanceof ResourceNotFoundException)) throw cause;
    throw new Error(`the lock table "${tableName}" does not exist: deploy the stage, or run npm start`, { cause });
  }
}
