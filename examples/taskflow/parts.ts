import { RetryLater } from "belfry";
import { databasePool } from "belfry/connect";

const keep = "insert into taskflow.part (name, n, sha256) values ($1, $2, $3) on conflict do nothing";
const connected = databasePool({ poolSize: 4, queryTimeout: "2s" });

/** Parts that are kept, counted from the first. */
export async function partsOf(report: string): Promise<number> {
  const [row] = await query("select count(*)::int as kept from taskflow.part where name = $1", [report]);
  return row?.kept ?? 0;
}

export async function keepPart(report: string, n: number, sha256: string): Promise<void> {
  await query(keep, [report, n, sha256]);
}

/** A database that is too slow or away has a code of its own, and another attempt. */
async function query(text: string, values: unknown[]): Promise<readonly { kept: number }[]> {
  try {
    return (await connected().query<{ kept: number }>(text, values)).rows;
  } catch (cause) {
    const what = cause instanceof Error ? cause.message : String(cause);
    throw new RetryLater(`the database did not answer: ${what}`, { code: "DB_UNAVAILABLE", cause });
  }
}
