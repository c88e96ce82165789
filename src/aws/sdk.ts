/** What needs the AWS SDK: the first call loads it. It takes 4 MB, and most processes take no lock and launch no task. */
import type { Instant } from "../machine/job.ts";
import type { Launcher } from "../machine/launcher.ts";
import type { LockStore } from "../machine/ports.ts";
import type { AwsSettings } from "./address.ts";
import type { TaskPlace } from "./task-launcher.ts";

export type Sdk = ReturnType<typeof openSdk>;

export function openSdk(aws: AwsSettings) {
  const destroys: (() => void)[] = [];
  const kept = <T extends { destroy(): void }>(client: T): T => {
    destroys.push(() => client.destroy());
    return client;
  };
  const dynamodb = once(async () => kept((await import("./lock-store.ts")).dynamodbClient(aws)));
  const ecs = once(async () => kept((await import("./task-launcher.ts")).ecsClient(aws)));
  return {
    locks(tableName: string): LockStore {
      const open = once(async () =>
        (await import("./lock-store.ts")).createDynamoLockStore({ client: await dynamodb(), tableName }),
      );
      return {
        read: async (...args) => (await open()).read(...args),
        take: async (...args) => (await open()).take(...args),
        renew: async (...args) => (await open()).renew(...args),
        release: async (...args) => (await open()).release(...args),
        raise: async (...args) => (await open()).raise(...args),
        observe: async (...args) => (await open()).observe(...args),
      };
    },
    launcher(place: TaskPlace): Launcher {
      const open = once(async () =>
        (await import("./task-launcher.ts")).createEcsLauncher({ client: await ecs(), place }),
      );
      return {
        launch: async (...args) => (await open()).launch(...args),
        stop: async (...args) => (await open()).stop(...args),
        runningSince: async (...args) => (await open()).runningSince(...args),
      };
    },
    ownTasksSince: (environment: NodeJS.ProcessEnv) => async (before: Instant) =>
      (await import("./task-launcher.ts")).ownTasksSince(await ecs(), environment)(before),
    destroy: () => destroys.forEach((destroy) => destroy()),
  };
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null;
  // What failed is tried again: files may have been short.
  return () =>
    (opened ??= open().catch((error: unknown) => {
      opened = null;
      throw error;
    }));
}
