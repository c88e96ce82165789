import { GetObjectCommand, PutObjectCommand, S3Client } from "@aws-sdk/client-s3";
import type { ObjectStore } from "../../insight/archive.ts";
import { at, timeouts } from "../address.ts";

/** Of one attempt: some seconds for an object of a few megabytes. */
const answerMsMax = 20_000;
const attemptsMax = 3;

export interface S3Place {
  readonly bucket: string;
  /** Before each name, without a slash at its ends; "" is none. */
  readonly prefix: string;
  readonly region: string;
  /** Null is the service of the region. */
  readonly endpoint: string | null;
}

/** Objects of a bucket. S3 answers a write once it is durable in several zones. */
export function s3Store({ bucket, prefix, region, endpoint }: S3Place): ObjectStore {
  const client = new S3Client({
    region,
    maxAttempts: attemptsMax,
    requestHandler: timeouts(answerMsMax),
    forcePathStyle: endpoint !== null,
    // It has a gateway of its own in the network, as DynamoDB has.
    ...at(endpoint),
  });
  const keyOf = (name: string): string => (prefix === "" ? name : `${prefix}/${name}`);
  return {
    where: `s3://${[bucket, prefix].filter((part) => part !== "").join("/")}`,
    async write(name, body) {
      const object = { Bucket: bucket, Key: keyOf(name), Body: body, ContentType: "application/x-ndjson" };
      await client.send(new PutObjectCommand({ ...object, ContentEncoding: "gzip" }));
    },
    async read(name) {
      const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: keyOf(name) }));
      return (await Body?.transformToByteArray()) ?? new Uint8Array();
    },
  };
}
