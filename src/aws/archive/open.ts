import { fileURLToPath } from "node:url";
import type { ObjectStore } from "../../insight/archive.ts";

/** The store of an archive. The client of S3 is loaded only where there is a bucket. */
export async function openArchive({ url, region, endpoint }: ArchiveSettings): Promise<ObjectStore> {
  if (url.startsWith("file:")) {
    const { folderStore } = await import("./folder.ts");
    return folderStore(fileURLToPath(url));
  }
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
