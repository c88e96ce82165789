import { expect, test } from "vitest";
import { fuzzed } from "../outsider/fuzz.ts";
import { openApi } from "./harness.ts";

test("random requests to each operation, good and spoiled, are answered as the document says, and never with an error of the API", async () => {
  const { api, call } = await openApi();
  for (let n = 0; n < 5; n += 1) await call("POST", "/jobs", { kind: "ping", key: `k${n}` });
  const statuses = new Map<number, number>();
  const ask = async (address: string, { headers, ...how }: RequestInit): Promise<Response> => {
    const own = { host: "127.0.0.1", ...(headers as Record<string, string> | undefined) };
    const answer = await api.fetch(new Request(`http://127.0.0.1${address}`, { ...how, headers: own }));
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
    return answer;
  };
  const document = await (await ask("/openapi.json", {})).json();
  expect(await fuzzed(ask, document as never, {}, 25)).toEqual([]);
  // A test of refusals that refuses everything, or nothing, shows little.
  expect(statuses.get(200)).toBeGreaterThan(100);
  expect(statuses.get(400)).toBeGreaterThan(500);
}, 240_000);
