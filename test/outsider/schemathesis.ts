import { tmpdir } from "node:os";
import type { Check } from "./check.ts";
import { memberFault } from "./fuzz.ts";
import { pythonTools, run } from "./tools.ts";

/**
 * Refusals of what the schemas alone allow, which the tool takes for findings: `ST202`. It knows 2xx, 401, 403, 404, 409, 429
 * and 5xx as answers to a request that the document allows.
 */
const byDesign: readonly { readonly answer: RegExp; readonly reason: string }[] = [
  { answer: /^\[412\]/m, reason: "the version that If-Match names has been left behind" },
  {
    answer: /^\[422\]/m,
    reason: "rules that no schema says have a status of their own, like a time zone that does not exist",
  },
  { answer: /must be at most/, reason: "the largest duration: a pattern cannot say it" },
  { answer: /due is for jobs that wait|is of another sort/, reason: "a rule between sort, state and cursor" },
  { answer: /header if-match/, reason: "the tool covers the header with 0, which the document's pattern refuses" },
  { answer: /header idempotency-key/, reason: "a rule between the header and the key of the body" },
  {
    answer: /NUL character|half a surrogate/,
    reason: "what is no text for Postgres; the tool makes it from every string",
  },
  { answer: /beyond 2\^53/, reason: "an integer that JSON does not carry exactly, inside of a free payload" },
];

/** Each failure of its report: the operation, what it is called, and the answer. */
export function failuresOf(report: string): readonly string[] {
  const [, ...parts] = report.split(/^_+ ([A-Z]+ \/\S*) _+$/m);
  const named = parts.flatMap((text, index) => (index % 2 === 1 ? [{ operation: parts[index - 1] ?? "", text }] : []));
  return named.flatMap(({ operation, text }) =>
    text
      .split(/^\d+\. Test Case ID/m)
      .slice(1)
      .flatMap((each) => {
        const codes = [...each.matchAll(/^- (ST\d+) (.*)$/gm)];
        const isAllowed =
          codes.every(([, code]) => code === "ST202") && byDesign.some(({ answer }) => answer.test(each));
        const answer = /^\[\d{3}\][\s\S]*?(?=^Reproduce)/m.exec(each)?.[0] ?? "";
        const shown = answer.replaceAll(/\s+/g, " ").slice(0, 400);
        return isAllowed ? [] : [`${operation}: ${codes.map(([, , what]) => what).join(", ")} ${shown}`];
      }),
  );
}

/** Attacks from the document by a tool that users run, with ideas of its own; where Python and its registry are there. */
export const schemathesisCheck: Check = {
  name: "schemathesis",
  async missing() {
    const tools = await pythonTools();
    return "missing" in tools ? tools.missing : null;
  },
  async run({ url }) {
    const tools = await pythonTools();
    if ("missing" in tools) return [tools.missing];
    const args = [
      "run",
      `${url}/openapi.json`,
      "--max-examples",
      process.env["FUZZ_RUNS"] ?? "10",
      "--exclude-operation-id",
      "listEvents",
      "--phases",
      "examples,coverage,fuzzing",
      "--no-color",
    ];
    const { code, output } = await run(`${tools.bin}/schemathesis`, args, { cwd: tmpdir() });
    if (code === 0) return [];
    const isReport = /^=+ FAILURES =+$/m.test(output);
    return isReport ? failuresOf(output) : [output.slice(-800)];
  },
  faults: { "a member that is not documented": memberFault },
};
