import type { Outbox } from "./items.ts";

/** What goes over the wire; nothing but conversion happens here. */
export const toMessage = ({ row: { key, body } }: Outbox) => ({
  MessageBody: JSON.stringify(body),
  MessageAttributes: { key: { DataType: "String", StringValue: key } },
});
