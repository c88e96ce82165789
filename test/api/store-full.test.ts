import { expect, test } from "vitest";
import { app, openApi } from "./harness.ts";

/** The error that the server raises when it cannot extend a file: its code, through the real adapter. */
const fill = `
  create function full_disk() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file: No space left on device' using errcode = 'disk_full'; end $$;
  create trigger full_disk before insert on belfry.job for each statement execute function full_disk()`;

test("a full disk is 503 store-full with Retry-After, changes nothing, and ends with the disk's space", async () => {
  const { call, pool, api } = await openApi([app], { own: true });
  await pool.query(fill);
  const request = { method: "POST", headers: { host: "127.0.0.1:4400", "content-type": "application/json" } };
  const body = JSON.stringify({ kind: "ping", key: "one" });
  const answer = await api.fetch(new Request("http://127.0.0.1:4400/jobs", { ...request, body }));
  expect(answer.status).toBe(503);
  expect(answer.headers.get("retry-after")).toBe("2");
  expect(await answer.json()).toMatchObject({ code: "store-full" });
  expect((await pool.query("select from belfry.job")).rowCount).toBe(0);
  await pool.query("drop trigger full_disk on belfry.job");
  expect(await call("POST", "/jobs", { kind: "ping", key: "one" })).toMatchObject({ status: 201 });
});
