import { contractLimits } from "../core/job/contract-limits.ts";
import { invalidField } from "./problem.ts";

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
      "is not taken here: only what makes one job or run has a key; see the document of the API",
    );
  }
  // The draft of the standard quotes it; most clients do not.
  const key = /^"(.*)"$/.exec(header)?.[1] ?? header;
  if (key.length >= 1 && key.length <= contractLimits.keyCharactersMax) return key;
  throw invalidField(path, `must have 1 to ${contractLimits.keyCharactersMax} characters`);
}

/** @throws HttpProblem 400 where nothing would heed it. */
export function checkIfMatch({ hasVersion }: { readonly hasVersion?: true }, header: string | undefined): void {
  if (header === undefined || hasVersion === true) return;
  throw invalidField("header if-match", "is not taken here: only schedules have versions");
}

/** One tag or more, each with its quotes (RFC 9110, in ASCII alone), or any version. */
export const ifMatchPattern = String.raw`^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$`;
const ifMatchForm = new RegExp(ifMatchPattern);

export const etagOf = (version: number): string => `"${version}"`;

/** The versions that a write was made for, for the store to compare and set; nothing where any will do. @throws HttpProblem 400 */
export function wantedVersions(request: Request): { readonly ifVersions?: readonly number[] } {
  const wanted = request.headers.get("if-match");
  if (wanted === null || wanted.trim() === "*") return {};
  // A tag without quotes would match no version ever, and the refusal would ask to read again for ever.
  if (!ifMatchForm.test(wanted.trim())) {
    throw invalidField("header if-match", 'must be the ETag of the schedule with its quotes, like "3", or *');
  }
  return { ifVersions: [...wanted.matchAll(/(?<!W\/)"(\d{1,9})"/g)].map(([, version]) => Number(version)) };
}
