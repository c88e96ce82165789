import { defineApp, defineJob, defineLimit } from "belfry";
import { expect, test } from "vitest";
import { openApi } from "./harness.ts";

const stripe = defineLimit("stripe", { rate: { limit: 100, per: "1s" }, concurrency: 10 });
const charge = defineJob({ id: "charge", limits: [stripe], run: () => {} });
const mail = defineJob({ id: "mail", rate: { limit: 5, per: "1s", key: String }, run: () => {} });
const shop = defineApp({ name: "shop", jobs: [charge, mail] });

test("a shared limit and the rate of a kind are changed, shown with what the code says, and listed", async () => {
  const { call } = await openApi([shop]);
  const put = (kind: string, body: object) => call("PUT", `/caps/${kind}`, body);
  expect(await put("@stripe", { size: 5, rate: { limit: 200, per: "1s" } })).toMatchObject({
    status: 200,
    body: {
      kind: "@stripe",
      size: 5,
      code: 10,
      rate: { limit: 200, perMs: 1_000, burst: 100 },
      codeRate: { limit: 100, perMs: 1_000, burst: 100 },
    },
  });
  expect(await put("mail", { rate: { limit: 6, per: "1m", burst: 2 } })).toMatchObject({ status: 200 });
  expect(await call("GET", "/lanes")).toMatchObject({
    body: {
      caps: [
        { key: "cap:@stripe", size: 5, windowMs: null },
        { key: "rate:@stripe", size: 100, windowMs: 500 },
      ],
    },
  });
});

test.each<[string, object, object]>([
  ["@strype", { size: 5 }, { code: "no-cap", near: ["@stripe"] }],
  ["@stripe", { perKey: 5 }, { detail: expect.stringContaining('"@stripe" has no cap perKey: no job has') }],
  ["charge", { rate: { limit: 5, per: "1s" } }, { detail: expect.stringContaining("has no rate: mail, @stripe has") }],
  ["mail", { rate: { limit: 5, per: "1ms" } }, { errors: [{ path: "rate", message: "must be at least 1s" }] }],
  [
    "mail",
    { rate: { limit: 5, per: "1s", burst: 3 } },
    { errors: [{ path: "rate", message: expect.stringContaining("leaves 3 of 5") }] },
  ],
  ["mail", {}, { errors: [{ path: "(root)", message: "needs size, perKey or rate" }] }],
])("what %s cannot have is refused: %j", async (kind, body, refusal) => {
  const { call } = await openApi([shop]);
  expect((await call("PUT", `/caps/${kind}`, body)).body).toMatchObject(refusal);
});
