import { describe, expect, test } from "vitest";
import { signedCaller } from "../../src/api/caller.ts";

const ops = "arn:aws:sts::111122223333:assumed-role/Operators/ada";
const guest = "arn:aws:sts::111122223333:assumed-role/Guests/Operators";

describe("who signed a request", () => {
  test("operates when the stage names nobody, under the name of the signature", () => {
    expect(signedCaller(ops)).toEqual({ name: ops, role: "operate" });
    expect(signedCaller(undefined)).toBeNull();
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
    [undefined, ["*"], null],
  ] as const)("%s among %j may %s", (arn, operators, role) => {
    expect(signedCaller(arn, operators === undefined ? {} : { operators })?.role ?? null).toBe(role);
  });
});
