/** Writes docs/api.md and src/cli/operations.json from the endpoints themselves: `node scripts/api-guide.ts`. A test holds the files to them. */
import { writeFileSync } from "node:fs";
import type { Endpoint } from "../src/api/endpoint.ts";
import { tagOf, tags } from "../src/api/openapi.ts";
import { apiDate } from "../src/api/guard.ts";
import { problemCodes } from "../src/api/problem-codes.ts";

/** The request of an endpoint's example as a line of a shell. */
export function curlOf(each: Endpoint): string {
  const { params = {}, query = {}, body } = each.example ?? {};
  const filled = each.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
  const search = new URLSearchParams(query).toString();
  const path = search === "" ? filled : `${filled}?${search}`;
  const method = each.method === "GET" ? "" : ` -X ${each.method}`;
  const content =
    body === undefined
      ? ""
      : ` \\\n  -H 'content-type: application/json' -d '${JSON.stringify(body).replaceAll("'", String.raw`'\''`)}'`;
  return `curl -s${method} "$BELFRY_URL${path}"${content}`;
}

const intro = `# The HTTP API

Generated from the endpoints by \`node scripts/api-guide.ts\`; do not edit. Every request below is run by a test against the server.
The same as OpenAPI 3.1: \`curl -s "$BELFRY_URL/openapi.json"\`.

## Where it is, and who may call

\`npm start\` prints the address of the local system, which answers programs of this machine without a signature:

\`\`\`sh
export BELFRY_URL=http://127.0.0.1:4400
\`\`\`

A deployed stage is a function URL behind IAM: sign with AWS Signature Version 4 for the service \`lambda\`. The address is an output of the stack.

\`\`\`sh
curl --aws-sigv4 "aws:amz:eu-west-1:lambda" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY" \\
  -H "x-amz-security-token: $AWS_SESSION_TOKEN" "https://ID.lambda-url.eu-west-1.on.aws/jobs"
\`\`\`

A caller has the role \`read\` or \`operate\`, and may be kept to some apps or lanes; the stage names both (docs/deploy.md). A request without an identity is refused with 401.

## Conventions

- **Bodies** are JSON in UTF-8 with \`content-type: application/json\`. A request without a body needs no content type, and \`null\` counts as none where no body is required. Unknown members and
  unknown parameters are refused, and so is a name that stands twice in one object. An integer beyond 2^53 is refused, because JSON would round it: send it as a string.
- **Times** are ISO 8601. The API answers in UTC and takes any offset. Durations in bodies are a number and a unit: \`500ms\`, \`30s\`, \`2h\`.
- **Ids** of jobs, runs and bulk actions are decimal numbers in strings.
- **Idempotency.** What makes something takes a \`key\` in the body, or the header \`Idempotency-Key\` in ASCII: the same request is answered with what
  the first one made and with \`Idempotency-Replayed: true\`, another one under the key with 409. For \`createJob\` and \`triggerSchedule\` the key is of the kind, and kept
  with its job, until the job is pruned. For \`createBulk\`, \`redriveDeadLetters\`, \`backfillSchedule\` and \`rerunRun\` it is of the stage and kept for seven days, of the
  newest 10,000 requests; the caller's scope is a part of the request. Dry runs make nothing and leave the key alone. Other writes refuse the header: they may be repeated
  safely where it says so, and a schedule has its id for a key.
- **Concurrent edits.** A schedule answers with \`ETag\`; send it as \`If-Match\`, and a change that was made for another version is a 412.
  The \`ETag\` of \`getSchedule\` names its text too, because its next time moves without a new version: with it as \`If-None-Match\` the
  answer is 304 while nothing changed. A write refuses that header.
- **Media types.** \`Accept\` chooses between JSON and a stream of events, where there is one; with neither among what it takes the answer is a 406. \`Accept-Language\` is not heeded.
- **Generated clients.** \`/openapi.json\` names the address that served it and the payload of each kind that you may enqueue or schedule. openapi-typescript, oapi-codegen, ogen and
  openapi-generator (Java, Rust) are tried with it; a client for a stage is generated from the document of that stage.
- **Lists** take \`limit\` (1 to 500, schedules to 10,000; events come in pages of the server's size) and \`cursor\`. \`nextCursor\` is null on the last page; the header \`Link\` has the address of the
  next page with \`rel="next"\`.
- **Long work** answers 202 with \`Location\`: follow that to its end: a bulk action until \`state\` is \`DONE\` or \`STOPPED\`,
  a run until it is \`CANCELED\`.
- **Every answer** has \`x-request-id\`, which the audit and the log name as well, \`belfry-version\`, \`cache-control: no-store\` and
  \`x-content-type-options: nosniff\`. Answers of 4 KB and more are compressed for clients that accept gzip.
- **Time.** Each request is answered within 5 s, \`/readyz\` within 2 s, also while the database stands still: then 503, \`outcome-unknown\` for a write. Repeat such a
  write with its key; without a key look first, as it may have happened.
- **Rates.** The API has no limit of its own. Behind the function URL, Lambda answers 429 beyond its concurrency.

## Versions and deprecation

The version is a date: ${apiDate}. Each answer names it in \`belfry-version\`. A request may name the version it was written for in the same header
and is refused with 400 by a server that speaks another one. Within a version, members, parameters, codes and endpoints are only added: a client ignores
members that it does not know. What is to be removed answers with \`Deprecation\` and \`Sunset\` headers (RFC 9745, RFC 8594) for at least six months, is marked
\`deprecated\` in the OpenAPI document and named in CHANGELOG.md; after that the date changes.

## Errors

Every error is \`application/problem+json\` (RFC 9457). Decide by \`code\`; \`detail\` is for people, \`errors\` names each field.

\`\`\`json
{ "type": "urn:belfry:problem:unknown-job", "title": "Not found", "status": 404, "code": "unknown-job",
  "detail": "there is no job 999", "requestId": "5f0c1e" }
\`\`\`

Send again what is 503: after \`Retry-After\` seconds. \`store-away\` and \`store-busy\` changed nothing. \`outcome-unknown\` may have happened: with the same key,
sending it again is safe.

| status | code | meaning |
|---|---|---|
`;

const events = `
## Live events

\`\`\`sh
curl -N -H 'accept: text/event-stream' "$BELFRY_URL/events?state=FAILED"
\`\`\`

A \`snapshot\` with the newest jobs comes first; then each change of state is an event \`job\`. The local system alone also sends \`save\`: whether the
newest save of your code can be used. The stream closes after 55 seconds: reconnect with the
\`id\` of the last event in \`Last-Event-ID\` and nothing is missed. \`gap\` says that the database was restored and events may be missing.
Without that \`accept\` header the same events come as pages of JSON; ask again with \`cursor\`.

## Metrics

\`/metrics\` answers in the text format of Prometheus: counts by kind and state, lateness, queue depth and locks. docs/alerts.prometheus.yml has alerts for them, docs/dashboard.grafana.json draws them.
`;

export function guideOf(endpoints: readonly Endpoint[]): string {
  const errors = Object.entries(problemCodes)
    .map(([code, [status, meaning]]) => `| ${status} | \`${code}\` | ${meaning} |`)
    .join("\n");
  const groups = tags.map(([tag, description]) => {
    const own = endpoints.filter((each) => tagOf(each) === tag);
    return `\n## ${tag[0]?.toUpperCase() ?? ""}${tag.slice(1)}\n\n${description}\n${own.map(sectionOf).join("")}`;
  });
  return `${intro}${errors}\n${groups.join("")}${events}`;
}

function sectionOf(each: Endpoint): string {
  const codes = (each.refuses ?? []).map((code) => `\`${code}\``).join(", ");
  const statuses = Object.keys(each.replies).join(" or ") || "200";
  const notes = [
    `Role \`${each.role}\`; answers ${statuses}${codes === "" ? "" : `; refuses with ${codes}`}.`,
    ...(each.takesKey === true ? ["Takes `Idempotency-Key`."] : []),
    ...(each.hasVersion === true ? [each.method === "GET" ? "Answers with `ETag`." : "Takes `If-Match`."] : []),
  ];
  return `
### ${each.name}: ${each.method} ${each.path.replaceAll(/:(\w+)/g, "{$1}")}

${each.summary}.${each.description === undefined ? "" : ` ${each.description}`}
${notes.join(" ")}

\`\`\`sh
${curlOf(each)}
\`\`\`
`;
}

if (import.meta.main) {
  const { endpoints, operationsText } = await import("./endpoints.ts");
  writeFileSync(new URL("../docs/api.md", import.meta.url), guideOf(endpoints));
  writeFileSync(new URL("../src/cli/operations.json", import.meta.url), operationsText());
}
