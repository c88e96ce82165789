import { hash } from "node:crypto";
import { contractLimits } from "../machine/contract-limits.ts";
import { fieldProblem, invalidField } from "./problem.ts";

export const keyPattern = "^[ -~]*$";
const keyForm = new RegExp(keyPattern);

/** The header's key. It is refused where nothing would heed it: two creates would follow. @throws HttpProblem 400 */
export function readIdempotencyKey(
  { takesKey }: { readonly takesKey?: true },
  header: string | undefined,
): string | undefined {
  if (header === undefined) return undefined;
  const path = "header idempotency-key";
  if (takesKey !== true) {
    throw invalidField(
      path,
      "is not taken here: only what makes a job, a run or a bulk action has a key; see the document of the API",
    );
  }
  // The draft of the standard quotes it; most clients do not.
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  // HTTP gives its bytes as Latin-1, which would make another key of the same text in the body.
  if (!keyForm.test(key)) throw invalidField(path, 'must be ASCII: send this key as "key" of the body');
  if (key.length >= 1 && key.length <= contractLimits.keyCharactersMax) return key;
  throw invalidField(path, `must have 1 to ${contractLimits.keyCharactersMax} characters`);
}

/** Conditions of a write that nothing would heed. @throws HttpProblem 400 */
export function checkConditions({ hasVersion }: { readonly hasVersion?: true }, request: Request): void {
  if (request.headers.has("if-match") && hasVersion !== true)
    throw invalidField("header if-match", "is not taken here: only schedules have versions");
  if (request.headers.has("if-none-match"))
    throw invalidField(
      "header if-none-match",
      "is not taken here: a schedule is made by POST /schedules, which refuses an id that is taken",
    );
}

/** One tag or more, each with its quotes (RFC 9110, in ASCII alone), or any version. */
export const ifMatchPattern = String.raw`^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$`;
const ifMatchForm = new RegExp(ifMatchPattern);

export const etagOf = (version: number): string => `"${version}"`;

/** What a read shows changes without a new version (its next time), so its tag names the text too. */
export const etagOfRead = (etag: string, text: string): string =>
  `${etag.slice(0, -1)}.${hash("sha256", text).slice(0, 16)}"`;

/** Whether the reader has this text already. A comparison of RFC 9110 that leaves the weakness of a tag out. */
export const isHeld = (etag: string, ifNoneMatch = ""): boolean =>
  ifNoneMatch.trim() === "*" || ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag);

/** The versions that a write was made for, for the store to compare and set; nothing where any will do. @throws HttpProblem 400 */
export function wantedVersions(request: Request): { readonly ifVersions?: readonly number[] } {
  const wanted = request.headers.get("if-match");
  if (wanted === null || wanted.trim() === "*") return {};
  // A tag without quotes would match no version ever, and the refusal would ask to read again for ever.
  if (!ifMatchForm.test(wanted.trim())) {
    throw invalidField("header if-match", 'must be the ETag of the schedule with its quotes, like "3", or *');
  }
  return {
    ifVersions: [...wanted.matchAll(/(?<!W\/)"(\d{1,9})(?:\.[\da-f]{16})?"/g)].map(([, version]) => Number(version)),
  };
}

/** What is not said is any type; a weight of 0 excludes one. @throws HttpProblem 406 */
export function checkAccept(
  { replies, streams = "application/json" }: { readonly replies: object; readonly streams?: string },
  accept: string,
): void {
  const wanted = accept
    .toLowerCase()
    .split(",")
    .filter((range) => !/;\s*q=0(\.0*)?\s*$/.test(range));
  const ranges = wanted.map((range) => range.split(";")[0]?.trim() ?? "");
  const types = [streams, ...(Object.keys(replies).length > 0 ? ["application/json"] : [])];
  if (
    accept.trim() === "" ||
    types.some((type) => ["*/*", type, type.replace(/\/.*/, "/*")].some((each) => ranges.includes(each)))
  )
    return;
  throw fieldProblem("not-acceptable", "header accept", `must have ${types.join(" or ")}, or be left out`);
}
