import { mkdir, open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { ObjectStore } from "../../insight/archive.ts";

/** Objects as files of a folder, each whole or not there: it is written beside itself, synced and renamed. */
export function folderStore(folder: string): ObjectStore {
  return {
    where: folder,
    async write(name, body) {
      const path = join(folder, name);
      const beside = `${path}.${process.pid}.part`;
      await mkdir(dirname(path), { recursive: true });
      const file = await open(beside, "w");
      try {
        await file.writeFile(body);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(beside, path);
      await syncFolder(dirname(path));
    },
    read: (name) => readFile(join(folder, name)),
  };
}

/** A new name survives a power cut only when its folder is synced too. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
