import { expect, test } from "vitest";
import { draftOf, fieldsOf, payloadOf } from "../../src/console/payload/fields.ts";
import { describeInBrowser, posts, tabTo } from "./in-browser.ts";

const schema = {
  type: "object",
  properties: {
    reportId: { type: "integer", minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: "Which report" },
    format: { type: "string", enum: ["csv", "pdf"] },
    to: { type: "array", items: { type: "string" } },
  },
  required: ["reportId"],
};
const fields = fieldsOf(schema) ?? [];

test("a JSON Schema becomes fields, each with its rule", () => {
  expect(fields.map(({ name, is, isRequired, hint }) => ({ name, is, isRequired, hint }))).toEqual([
    { name: "reportId", is: "number", isRequired: true, hint: "Which report · 1…" },
    { name: "format", is: "choice", isRequired: false, hint: "" },
    { name: "to", is: "json", isRequired: false, hint: "" },
  ]);
  expect([fieldsOf({}), fieldsOf(null), fieldsOf({ type: "string" })]).toEqual([null, null, null]);
});

test("a payload goes into the fields and comes out again; what is empty is left out", () => {
  const payload = { reportId: 7, format: "csv", to: ["a", "b"] };
  const draft = draftOf(fields, payload) ?? {};
  expect(payloadOf(fields, draft)).toEqual({ payload, wrong: [] });
  expect(payloadOf(fields, { ...draft, format: "", to: "" })).toEqual({ payload: { reportId: 7 }, wrong: [] });
});

test("what is no value of its field is named; a payload with members of its own is written as JSON", () => {
  expect(payloadOf(fields, { reportId: "seven", to: "[1," }).wrong).toEqual(["reportId", "to"]);
  expect(payloadOf(fields, { reportId: '"7"' }).wrong).toEqual(["reportId"]);
  expect(draftOf(fields, { reportId: 7, other: 1 })).toBeNull();
  expect(draftOf(fields, [7])).toBeNull();
});

await describeInBrowser("a new job", (its) => {
  test("is enqueued from the fields of its kind, by keyboard alone", async () => {
    const { page, problems } = await its.visit("/jobs", "send-open-mail");
    await tabTo(page, "Enqueue a job");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Enqueue a job" });
    await dialog.getByLabel("Kind").selectOption("send-open-mail");
    expect(await dialog.getByLabel("Kind").locator("option").allInnerTexts()).not.toContain("settlement.orders");
    await dialog.getByLabel("reportId").fill("seven");
    await dialog.getByLabel("format").selectOption({ label: "pdf" });
    await dialog.getByLabel("Key").fill("once");
    const before = posts(its.api).length;
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("reportId").waitFor();
    expect(posts(its.api).length).toBe(before);
    await dialog.getByLabel("reportId").fill("7");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: /#1\d{3}$/ }).waitFor();
    expect(posts(its.api).slice(before)).toEqual(["POST /jobs"]);
    const sent = { kind: "send-open-mail", payload: { reportId: 7, format: "pdf" }, key: "once" };
    expect(its.api.bodies.at(-1)).toEqual(sent);
    expect(problems).toEqual([]);
  });

  test("that is a copy begins with the other's payload, and its key names that one", async () => {
    const { page } = await its.visit("/jobs/1", "Events");
    await tabTo(page, "Run with another payload");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("reportId").inputValue()).toBe("1");
    await dialog.getByRole("button", { name: "Write it as JSON" }).click();
    const whole = dialog.getByRole("textbox", { name: "Payload" });
    expect(JSON.parse(await whole.inputValue())).toEqual({ reportId: 1, format: "csv" });
    const before = posts(its.api).length;
    await whole.fill("{oops");
    await dialog.getByRole("button", { name: "Enqueue a job" }).click();
    await page.getByText("The payload is not JSON").waitFor();
    expect(posts(its.api).length).toBe(before);
    await whole.fill('{"reportId":2}');
    await dialog.getByRole("button", { name: "Enqueue a job" }).click();
    await page.getByRole("heading", { level: 1, name: /#1\d{3}$/ }).waitFor();
    const sent = its.api.bodies.at(-1);
    expect(sent).toMatchObject({ kind: "send-open-mail", payload: { reportId: 2 } });
    expect((sent as { readonly key: string }).key).toMatch(/^copy-of-1-\d+$/);
  });
});
