import { type HttpClient, httpClient } from "belfry/http";

let client: HttpClient | null = null;

/** The publisher's HTTP interface, with every wait shorter than a try. Made when a handler first asks. */
export function publisher(): HttpClient {
  client ??= httpClient({
    baseUrl: baseUrl(),
    connectMs: 1_000,
    headersMs: 2_000,
    totalMs: 4_000,
    answerBytesMax: 4_096,
  });
  return client;
}

function baseUrl(): string {
  const url = process.env["TASKFLOW_PUBLISHER_URL"];
  if (!url) throw new Error("TASKFLOW_PUBLISHER_URL is not set: the fake reports it when it starts (examples/fake.ts)");
  return url;
}
