import { fileURLToPath } from "node:url";
import type { ObjectStore } from "../../insight/archive.ts";
import { mkdir, open, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The store of an archive. The client of S3 is loaded only where there is a bucket. */
export async function openArchive({ url, region, endpoint }: ArchiveSettings): Promise<ObjectStore> {
  if (url.startsWith("file:")) return folderStore(fileURLToPath(url));
  const { s3Store } = await import("./s3.ts");
  const [bucket = "", ...rest] = url.slice("s3://".length).split("/");
  return s3Store({ bucket, prefix: rest.join("/"), region, endpoint });
}

export interface ArchiveSettings {
  /** `s3://bucket`, `s3://bucket/prefix` or `file:///folder`. */
  readonly url: string;
  readonly region: string;
  /** Of S3; null is the service of the region. */
  readonly endpoint: string | null;
}

const shape = /^(s3:\/\/[a-z\d][a-z\d.-]{1,61}[a-z\d](\/[\w!.*'()-]+)*|file:\/\/\/.+)$/;

/** What is wrong with the address of an archive; null: nothing. */
export const archivePlaceProblem = (url: string): string | null =>
  shape.test(url) ? null : "must be s3://BUCKET, s3://BUCKET/PREFIX or file:///FOLDER";

/** Objects as files of a folder, each whole or not there: it is written beside itself, synced and renamed. */
export function folderStore(folder: string): ObjectStore {
  return {
    where: folder,
    async write(name, body) {
      const path = join(folder, name);
      const beside = `${path}.${process.pid}.part`;
      await mkdir(dirname(path), { recursive: true });
      await writeFile(beside, body, { flush: true });
      await rename(beside, path);
      await syncFolder(dirname(path));
    },
    read: (name) => readFile(join(folder, name)),
  };
}

/** A new name survives a power cut only when its folder is synced too. */
async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, "r");
  await handle.sync();
}
