import { describe, expect, test } from "vitest";
import { localCaller, signedCaller } from "../../src/api/caller.ts";

const ops = "arn:aws:sts::111122223333:assumed-role/Operators/ada";
const local = { name: "local", role: "operate" };
const guest = "arn:aws:sts::111122223333:assumed-role/Guests/Operators";

describe("who signed a request", () => {
  test("only looks where the stage does not say who operates, under the name of the signature", () => {
    expect(signedCaller(ops)).toEqual({ name: ops, role: "read", hides: true });
    expect([signedCaller(undefined), signedCaller("")]).toEqual([null, null]);
  });

  test("is kept to all that the scopes that name it have, and to nothing by those that name others", () => {
    const scopes = [
      { callers: ["arn:aws:sts::*:assumed-role/Operators/*"], apps: ["shop"] },
      { callers: ["arn:aws:iam::*:user/bob", ops], lanes: ["mail"] },
      { callers: ["arn:aws:sts::*:assumed-role/Guests/*"], apps: ["ops"], lanes: ["slow"] },
    ];
    expect(signedCaller(ops, { scopes })?.scope).toEqual({ apps: ["shop"], lanes: ["mail"] });
    expect(signedCaller(guest, { scopes })?.scope).toEqual({ apps: ["ops"], lanes: ["slow"] });
    expect(signedCaller(ops.replace("Operators", "Others"), { scopes })).not.toHaveProperty("scope");
    expect(signedCaller(ops, { scopes: [] })).not.toHaveProperty("scope");
    expect([localCaller(), localCaller({ scopes })]).toEqual([local, local]);
    expect(localCaller({ scopes: [{ callers: ["local"], apps: ["shop"] }] }).scope).toEqual({
      apps: ["shop"],
      lanes: [],
    });
  });

  test.each([
    [ops, ["arn:aws:sts::*:assumed-role/Operators/*"], "operate"],
    [ops, ["arn:aws:iam::111122223333:user/bob", ops], "operate"],
    [guest, ["arn:aws:sts::*:assumed-role/Operators/*"], "read"],
    [`${ops}x`, [ops], "read"],
    [guest, ["arn:aws:sts::*:assumed-role/*/ada"], "read"],
    [`${guest}/ada`, ["arn:aws:sts::*:assumed-role/Guests/*"], "read"],
    ["arnXawsXsts", ["arn.aws.sts"], "read"],
    [ops, [], "read"],
    [ops, undefined, "read"],
    [ops, ["*"], "operate"],
    [undefined, undefined, null],
    [undefined, ["*"], null],
  ] as const)("%s among %j may %s", (arn, operators, role) => {
    expect(signedCaller(arn, operators === undefined ? {} : { operators })?.role ?? null).toBe(role);
  });
});
