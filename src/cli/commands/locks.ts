import { Command } from "commander";
import { api } from "../api.ts";
import { type Output, table } from "../output.ts";
import type { World } from "../world.ts";

interface Locks {
  readonly locks: readonly {
    readonly name: string;
    readonly holder: string | null;
    readonly fence: number | null;
    readonly isStoreUp: boolean;
  }[];
  readonly jobLocks: readonly { readonly key: string; readonly holders: readonly { readonly job: string }[] }[];
}

export function locksCommand(world: World, out: Output): Command {
  const locks = new Command("locks").description("who holds which lock");
  return locks.addHelpText("after", "\nExample:\n  $ npx belfry locks").action(async (_: object, command: Command) => {
    const found = await api(world, command).get<Locks>("/locks");
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
    out.result(found, () => table(["LOCK", "HOLDER", "FENCE"], rows, world.streams.isTerminal));
  });
}
