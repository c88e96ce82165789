import { expect, test } from "vitest";
import { openApi } from "./harness.ts";

test("plain words find jobs by id, kind, key and error, each word in any case", async () => {
  const { call, pool } = await openApi();
  const made = await call("POST", "/jobs", { kind: "greet", payload: { name: "ada" }, key: "Orders-nn" });
  await call("POST", "/jobs", { kind: "ping", key: "refunds-x" });
  await pool.query("update belfry.job set error_code = 'DISK', error_message = 'no room left' where kind = 'ping'");
  const found = async (query: string): Promise<readonly string[]> =>
    (await call("GET", `/jobs?${query}`)).body.jobs.map(({ key }) => key);
  expect(await found("text=orders")).toEqual(["Orders-nn"]);
  expect(await found("text=PING+room")).toEqual(["refunds-x"]);
  expect(await found("text=greet+room")).toEqual([]);
  expect(await found(`text=${made.body.id}`)).toEqual(["Orders-nn"]);
  expect(await found(`id=${made.body.id}`)).toEqual(["Orders-nn"]);
  expect((await call("GET", "/jobs?text=a+b+c+d+e+f+g+h+i+j+k")).status).toBe(400);
  const counted = await call("POST", "/bulk", { action: "cancel", filter: { text: "orders" }, dryRun: true });
  expect(counted.body).toMatchObject({ matched: { count: 1, isMore: false } });
});
