import { readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { startFauxqs } from "fauxqs";
import { describe, expect, onTestFinished, test } from "vitest";
import { openArchive, archivePlaceProblem } from "../../src/aws/archive/open.ts";
import { writeBatch } from "../../src/aws/archive/write-batch.ts";
import type { ArchivedRow, ObjectStore } from "../../src/insight/archive.ts";
import { emptyFolder } from "../support/empty-folder.ts";

const bucket = "belfry-archive";

async function inFolder(): Promise<ObjectStore> {
  return openArchive({ url: pathToFileURL(emptyFolder()).href, region: "us-east-1", endpoint: null });
}

async function inS3(url = `s3://${bucket}/prefix`): Promise<ObjectStore> {
  const server = await startFauxqs({ port: 0, logger: false, init: { buckets: [bucket] } });
  onTestFinished(() => server.stop());
  return openArchive({ url, region: "us-east-1", endpoint: `http://127.0.0.1:${server.port}` });
}

describe.each([
  ["a folder", inFolder],
  ["S3's API", inS3],
])("objects in %s", (_, open) => {
  test("an object is read as it was written; the same name again replaces it", async () => {
    const store = await open();
    const name = "dev/job/2026/01/02/1-2-abc.ndjson.gz";
    await store.write(name, Buffer.from("first"));
    await store.write(name, Buffer.from("second"));
    expect(Buffer.from(await store.read(name)).toString()).toBe("second");
  });

  test("what is not there is an error", async () => {
    const store = await open();
    await expect(store.read("dev/job/none")).rejects.toThrow(/ENOENT|NoSuchKey|does not exist/);
  });

  test("a batch is one object for each table and day, of lines that gzip reads", async () => {
    const store = await open();
    const names: string[] = [];
    const noting = { write: (name: string, body: Uint8Array) => (names.push(name), store.write(name, body)) };
    const at = Date.parse("2026-01-02T23:59:59.999Z");
    const row = (table: ArchivedRow["table"], number: string, after = 0): ArchivedRow => ({
      table,
      number,
      kind: null,
      at: at + after,
      line: `{"id":"${number}"}`,
    });
    const rows = [row("job", "9"), row("job", "10"), row("job", "11", 1), row("run", "3")];
    const shown = { stage: "dev", shown: ({ line }: ArchivedRow) => line };
    const written = await writeBatch(noting, { rows }, shown);
    expect(names.map((name) => name.replace(/-[\da-f]{16}\./, "-HASH."))).toEqual([
      "dev/job/2026/01/02/9-10-HASH.ndjson.gz",
      "dev/job/2026/01/03/11-11-HASH.ndjson.gz",
      "dev/run/2026/01/02/3-3-HASH.ndjson.gz",
    ]);
    const bodies = await Promise.all(names.map(async (name) => Buffer.from(await store.read(name))));
    expect(bodies.map((body) => gunzipSync(body).toString())).toEqual([
      '{"id":"9"}\n{"id":"10"}\n',
      '{"id":"11"}\n',
      '{"id":"3"}\n',
    ]);
    expect(written).toEqual({ objects: 3, bytes: bodies.reduce((sum, { length }) => sum + length, 0) });
    const again = names.splice(0);
    await writeBatch(noting, { rows }, shown);
    expect(names).toEqual(again);
  });
});

test("a bucket that is not there is an error that names it", async () => {
  const store = await inS3("s3://another-bucket");
  await expect(store.write("dev/job/1", Buffer.from("x"))).rejects.toThrow(/NoSuchBucket|does not exist/);
});

test("a file that was not written whole has not its name", async () => {
  const path = emptyFolder();
  const store = await openArchive({ url: pathToFileURL(path).href, region: "us-east-1", endpoint: null });
  await expect(store.write("dev/one", null as unknown as Uint8Array)).rejects.toThrow(/must be of type/);
  expect(readdirSync(join(path, "dev")).filter((name) => !name.endsWith(".part"))).toEqual([]);
});

test.each(["s3://", "s3://UPPER", "https://bucket", "file://folder", "s3://bucket/a b"])("%s is no place", (url) => {
  expect(archivePlaceProblem(url)).toContain("s3://BUCKET");
});
