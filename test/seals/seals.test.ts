import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { text as readAll } from "node:stream/consumers";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { openSeals } from "../../src/aws/seals.ts";
import { sealValue } from "../../src/machine/seal.ts";
import { listening } from "../support/listening.ts";

const localKey = () => `local:${randomBytes(32).toString("base64")}`;
const sealsOf = (keys: Readonly<Record<string, string>>, kmsEndpoint: string | null = null, nowMs = () => 0) =>
  openSeals({ keys, region: "us-east-1", kmsEndpoint, isDualStack: false }, { elapsedMs: nowMs });
const pay = { name: "payroll", scope: "pay" };

test("a text opens in another process with the key, also after the key was rotated, and with no other key", async () => {
  const [old, fresh, others] = [localKey(), localKey(), localKey()];
  const sealed = await sealsOf({ payroll: old }).seal(pay, "secret");
  expect(await sealsOf({ payroll: old }).open(pay, sealed)).toBe("secret");
  const rotated = sealsOf({ payroll: `${fresh},${old}` });
  expect(await rotated.open(pay, sealed)).toBe("secret");
  expect(await sealsOf({ payroll: fresh }).open(pay, await rotated.seal(pay, "newer"))).toBe("newer");
  await expect(sealsOf({ payroll: others }).open(pay, sealed)).rejects.toThrow('what "pay" is given was changed');
  await expect(sealsOf({ "*": old }).open({ ...pay, name: "loans" }, sealed)).rejects.toThrow('sealed by "payroll"');
});

test("what is too large once it is sealed is refused with its size", async () => {
  const kept = sealValue(sealsOf({ payroll: localKey() }), pay, "x".repeat(90), 100);
  await expect(kept).rejects.toThrow(/what "pay" seals is \d{3} bytes once it is sealed; the limit is 100/);
});

test("one key for every name still gives each name its own", async () => {
  const seals = sealsOf({ "*": localKey() });
  const forged = (await seals.seal(pay, "secret")).replace("v1.payroll.", "v1.loans.");
  await expect(seals.open({ ...pay, name: "loans" }, forged)).rejects.toThrow("was changed");
});

test("a text that was moved to another kind, or changed by a byte, opens nowhere", async () => {
  const seals = sealsOf({ payroll: localKey() });
  const sealed = await seals.seal(pay, "secret");
  await expect(seals.open({ ...pay, scope: "print" }, sealed)).rejects.toMatchObject({ code: "SEAL_BROKEN" });
  const parts = sealed.split(".");
  for (const place of [2, 3]) {
    const bytes = Buffer.from(parts[place] ?? "", "base64url");
    for (let at = 0; at < bytes.length; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      const text = parts.with(place, changed.toString("base64url")).join(".");
      await expect(seals.open(pay, text)).rejects.toMatchObject({ code: "SEAL_BROKEN" });
    }
  }
  await expect(seals.open(pay, "v1.payroll.AA")).rejects.toThrow("no text that Belfry sealed");
});

test("a name without a key says which are known", async () => {
  await expect(sealsOf({ loans: localKey() }).seal(pay, "secret")).rejects.toMatchObject({
    code: "SEAL_UNAVAILABLE",
    message: 'there is no key "payroll" here: name it in BELFRY_SEALS, which has loans',
  });
});

/** As KMS does with data keys: it binds them to the context that they were made for. */
async function fakeKms(mayDecrypt: boolean) {
  const calls: string[] = [];
  const made = new Map<string, { plain: string; context: string }>();
  const server = createServer((request, response) => void serve(request, response));
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<unknown> => {
    const text = await readAll(request);
    const action = String(request.headers["x-amz-target"]).replace("TrentService.", "");
    const body = JSON.parse(text) as { KeyId?: string; CiphertextBlob?: string; EncryptionContext: object };
    calls.push(action);
    const context = JSON.stringify(body.EncryptionContext);
    const answer = (status: number, value: object) => response.writeHead(status).end(JSON.stringify(value));
    if (action === "GenerateDataKey") {
      const [plain, blob] = [randomBytes(32).toString("base64"), randomBytes(184).toString("base64")];
      made.set(blob, { plain, context });
      return answer(200, { Plaintext: plain, CiphertextBlob: blob, KeyId: body.KeyId });
    }
    if (!mayDecrypt) {
      const message =
        "User: arn:aws:sts::111122223333:assumed-role/loans/worker is not authorized to perform: kms:Decrypt";
      return answer(400, { __type: "com.amazonaws.kms#AccessDeniedException", message });
    }
    const known = made.get(body.CiphertextBlob ?? "");
    if (known?.context !== context) return answer(400, { __type: "InvalidCiphertextException" });
    return answer(200, { Plaintext: known.plain });
  };
  return { url: `http://127.0.0.1:${await listening(server)}/`, calls };
}

const arn = "arn:aws:kms:us-east-1:111122223333:key/11111111-2222-3333-4444-555555555555";

test("KMS is asked once an hour to seal and once a data key to open, and never for what is known", async () => {
  process.env["AWS_ACCESS_KEY_ID"] ??= "local";
  process.env["AWS_SECRET_ACCESS_KEY"] ??= "local";
  const kms = await fakeKms(true);
  let nowMs = 0;
  const writer = sealsOf({ payroll: arn }, kms.url, () => nowMs);
  const texts = await Promise.all(["a", "b", "c"].map((text) => writer.seal(pay, text)));
  nowMs = 3_600_000;
  texts.push(await writer.seal(pay, "d"));
  expect(kms.calls).toEqual(["GenerateDataKey", "GenerateDataKey"]);
  const reader = sealsOf({ payroll: arn }, kms.url);
  expect(await Promise.all(texts.map((text) => reader.open(pay, text)))).toEqual(["a", "b", "c", "d"]);
  expect(kms.calls.slice(2)).toEqual(["Decrypt", "Decrypt"]);
  const renamed = (texts[0] ?? "").replace("v1.payroll.", "v1.loans.");
  const loans = sealsOf({ loans: arn }, kms.url);
  await expect(loans.open({ name: "loans", scope: "pay" }, renamed)).rejects.toMatchObject({ code: "SEAL_BROKEN" });
});

test("a role without the right to decrypt is named with the key, and asked again the next time", async () => {
  const kms = await fakeKms(false);
  const seals = sealsOf({ payroll: arn }, kms.url);
  const sealed = await seals.seal(pay, "secret");
  const refusal = { code: "SEAL_UNAVAILABLE", message: expect.stringMatching(/"payroll" \(arn:aws:kms.*role\/loans/) };
  await expect(seals.open(pay, sealed)).rejects.toMatchObject(refusal);
  await expect(seals.open(pay, sealed)).rejects.toMatchObject(refusal);
  expect(kms.calls.filter((call) => call === "Decrypt")).toHaveLength(2);
});
