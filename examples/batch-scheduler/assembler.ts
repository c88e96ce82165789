import { createHash } from "node:crypto";
import type { Download, Outbox } from "./items.ts";

/** What goes over the wire; nothing but conversion happens here. */
export interface Message {
  readonly MessageBody: string;
  readonly MessageAttributes: Readonly<Record<"key" | "topic", { DataType: "String"; StringValue: string }>>;
}

export function toMessage({ key, topic, body }: Outbox): Message {
  const attribute = (StringValue: string) => ({ DataType: "String" as const, StringValue });
  return { MessageBody: body, MessageAttributes: { key: attribute(key), topic: attribute(topic) } };
}

export const toDownload = (body: Uint8Array): Download => ({
  bytes: body.byteLength,
  sha256: createHash("sha256").update(body).digest("hex"),
  content: Buffer.from(body).toString("utf8"),
});
