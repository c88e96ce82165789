import { setTimeout as wait } from "node:timers/promises";
import { postgresLimits } from "./postgres-limits.ts";
import type { Store } from "../machine/store.ts";
import { isLockTimeout } from "./failure.ts";
import type { Session } from "./session.ts";
import * as sql from "./sql/fence.ts";
import { setLockTimeout } from "./sql/transaction.ts";
import { execute } from "./statement.ts";

export function fenceStore(session: Session) {
  return {
    installFence: ({ name, token }) => installFence(session, name, token),
    async passed({ name, token }) {
      await session.run(sql.writePassed, [name, token]);
    },
    async takeFallback(name, owner, leaseMs) {
      const taken = (await session.run(sql.acquireFallback, [name, owner, leaseMs]))[0];
      if (taken !== undefined) return { fence: Number(taken.fence) };
      const holder = (await session.run(sql.fallbackHolder, [name]))[0];
      return { heldBy: holder?.owner ?? "nobody any more" };
    },
    async renewFallback(name, owner, fence, leaseMs) {
      return (await session.run(sql.renewFallback, [name, owner, fence, leaseMs])).length > 0;
    },
    async releaseFallback(name, owner, fence) {
      await session.run(sql.releaseFallback, [name, owner, fence]);
    },
  } satisfies Partial<Store>;
}

/**
 * Waits for fenced transactions under way, in short turns. Between turns it ends transactions whose process is frozen: they
 * would keep every new holder out.
 */
async function installFence(session: Session, name: string, token: number): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await session.transaction(async (tx) => {
        await execute(tx, setLockTimeout, [`${postgresLimits.fenceWaitMs}ms`]);
        await execute(tx, sql.lockFence, [name]);
        const [row] = await execute(tx, sql.raiseFence, [name, token]);
        return Number(row?.before);
      });
    } catch (error) {
      if (!isLockTimeout(error) || tries >= postgresLimits.fenceInstallTriesMax) throw error;
      await session.run(sql.endIdleHolders, [name, postgresLimits.fenceWaitMs]);
      await wait(postgresLimits.serializationRetryMs);
    }
  }
}
