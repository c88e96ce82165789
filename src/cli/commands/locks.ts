import { Command } from "commander";
import type { LockListReply } from "../../api/shape/overview.ts";
import { api } from "../api.ts";
import type { Output } from "../output.ts";
import type { World } from "../world.ts";

export function locksCommand(world: World, out: Output): Command {
  const locks = new Command("locks");
  return locks.addHelpText("after", "\nExample:\n  $ npx belfry locks").action(async (_: object, command: Command) => {
    const found = await api(world, command).get<LockListReply>("/locks");
    const rows = [
      ...found.locks.map((lock) => [
        lock.name,
        lock.isStoreUp ? (lock.holder ?? "(free)") : "(the lock store does not answer)",
        lock.fence === null ? "" : String(lock.fence),
      ]),
      ...found.jobLocks.map((lock) => [
        lock.key,
        lock.holders.map(({ job }) => `job ${job}`).join(", ") || "(free)",
        "",
      ]),
    ];
    out.result(found, () => out.table(["LOCK", "HOLDER", "FENCE"], rows));
  });
}
