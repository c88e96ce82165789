import { contractLimits } from "../core/job/contract-limits.ts";
import { HttpProblem, invalidField } from "./problem.ts";

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

export const etagOf = (version: number): string => `"${version}"`;

/** Refuses a write that was made for another version. @throws HttpProblem 412 */
export function assertVersion(request: Request, id: string, version: number): void {
  const wanted = request.headers.get("if-match");
  if (wanted === null || wanted === "*") return;
  const tags = wanted.split(",").map((tag) => tag.trim());
  if (tags.includes(etagOf(version))) return;
  const detail = `schedule ${JSON.stringify(id)} is at version ${version}, not ${wanted.slice(0, 60)}: read it again`;
  throw new HttpProblem("version-changed", detail, { extra: { version }, headers: { etag: etagOf(version) } });
}
