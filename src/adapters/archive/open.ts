import { fileURLToPath } from "node:url";
import type { ObjectStore } from "../../core/ports/archive.ts";
import type { ArchiveSettings } from "./place.ts";

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
