/** What needs the AWS SDK. It is a quarter of a process, and most of them take no lock and launch no task: the first call loads it. */
import type { Launcher } from "../machine/launcher.ts";
import type { LockStore } from "../machine/ports.ts";
import type { AwsSettings } from "./address.ts";
import type { ownTasksSince, TaskPlace } from "./task-launcher.ts";

export interface Sdk {
  locks(tableName: string): LockStore;
  launcher(place: TaskPlace): Launcher;
  ownTasksSince(environment: Parameters<typeof ownTasksSince>[1]): ReturnType<typeof ownTasksSince>;
  destroy(): void;
}

export function openSdk(aws: AwsSettings): Sdk {
  const destroys: (() => void)[] = [];
  const kept = <T extends { destroy(): void }>(client: T): T => {
    destroys.push(() => client.destroy());
    return client;
  };
  const dynamodb = once(async () => kept((await import("./endpoint.ts")).dynamodbClient(aws)));
  const ecs = once(async () => kept((await import("./endpoint.ts")).ecsClient(aws)));
  return {
    locks(tableName) {
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
    launcher(place) {
      const open = once(async () =>
        (await import("./task-launcher.ts")).createEcsLauncher({ client: await ecs(), place }),
      );
      return {
        launch: async (...args) => (await open()).launch(...args),
        stop: async (...args) => (await open()).stop(...args),
        runningSince: async (...args) => (await open()).runningSince(...args),
      };
    },
    ownTasksSince: (environment) => async (before) =>
      (await import("./task-launcher.ts")).ownTasksSince(await ecs(), environment)(before),
    destroy: () => destroys.forEach((destroy) => destroy()),
  };
}

function once<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | null = null;
  return () => (opened ??= open());
}
