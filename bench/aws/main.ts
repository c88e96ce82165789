import { randomBytes } from "node:crypto";
import { parseArgs } from "node:util";
import { awsIn } from "../../src/aws/aws-call.ts";
import { type ApiClient, apiClient } from "../../src/cli/client.ts";
import { deployedApi } from "../../src/cli/deployed.ts";
import { callerAccount } from "../../src/cli/preflight.ts";
import { rowsTable } from "../table.ts";
import { billOf, billText, charged } from "./bill.ts";
import { drive, type Driven } from "./drive.ts";

const help = `npm run bench:aws -- --stage NAME --yes

Enqueues at given rates by the API of a deployed stage, in your own account, and says how long jobs took to their end and what that load costs.
It needs credentials that may call the API (docs/deploy.md) and AWS_REGION; it touches no database.

  --stage     the stage, which you have deployed
  --url       of its API; without --stage, of a system on this machine, which costs nothing
  --kind      of the jobs, which take no payload; "hello" without it
  --rates     jobs a second, one after the other; "1,10,50" without it
  --minutes   of each rate; 2 without it
  --yes       begin; without it only the estimate is shown
  --charged   a day, 2026-01-31: only asks Cost Explorer (0.01 USD) what the stage was charged then; complete a day later
  --json      one JSON object on stdout

Keys begin with "bench-aws-". What has not settled at the end is canceled; rows go by the retention of their kind.
Exit code 0 when every job that was sent succeeded, 1 when not, 2 for a wrong call or without credentials.
`;

const settleMsMax = 120_000;
/** Of a worker, for the estimate: the default of a stage. */
const memoryMb = 512;
const jobsMax = 1_000_000;

process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const values = valuesOf(args);
  if (typeof values === "string") return refused(values);
  if (values.help === true) {
    process.stdout.write(help);
    return 0;
  }
  const { stage, url, charged: day } = values;
  if (stage === undefined && url === undefined) return refused("say which stage: --stage NAME");
  const kind = values.kind ?? "hello";
  const [rates, minutes] = [(values.rates ?? "1,10,50").split(",").map(Number), Number(values.minutes ?? 2)];
  const jobs = rates.reduce((sum, rate) => sum + rate, 0) * minutes * 60;
  if (!(rates.every((rate) => rate > 0) && minutes > 0 && jobs <= jobsMax))
    return refused(
      `--rates "${values.rates}" and --minutes "${minutes}": must be above 0 and make ${jobsMax} jobs at most`,
    );
  if (stage !== undefined) {
    const problem = await accountProblem();
    if (problem !== null) return refused(problem);
    if (day !== undefined) {
      process.stdout.write(`${await charged(awsIn("us-east-1", ""), stage, day)}\n`);
      return 0;
    }
  }
  const estimate = billOf({ jobs, calls: 2 * jobs, memoryMb });
  process.stderr.write(`${Math.round(jobs)} jobs of ${kind}; the estimate ${billText(estimate)}\n`);
  if (values.yes !== true) return refused("add --yes to begin");
  const api =
    stage === undefined ? apiClient(url ?? "") : deployedApi(stage, { url, env: process.env, folder: process.cwd() });
  const results = await runAll(api, { kind, rates, seconds: minutes * 60 });
  const bill = billOf({
    jobs: results.reduce((sum, { sent }) => sum + sent, 0),
    calls: results.reduce((sum, { calls }) => sum + calls, 0),
    memoryMb,
  });
  const pass = results.every(({ sent, settled, failed, refused: lost }) => settled === sent && failed + lost === 0);
  process.stdout.write(
    values.json === true ? `${JSON.stringify({ pass, results, bill })}\n` : `${table(results)}\n${billText(bill)}\n`,
  );
  return pass ? 0 : 1;
}

function valuesOf(args: readonly string[]) {
  try {
    const text = { type: "string" } as const;
    const flag = { type: "boolean" } as const;
    const options = { stage: text, url: text, kind: text, rates: text, minutes: text, charged: text };
    return parseArgs({ args: [...args], options: { ...options, yes: flag, json: flag, help: flag } }).values;
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}: see --help`;
  }
}

async function accountProblem(): Promise<string | null> {
  const region = process.env["AWS_REGION"] ?? process.env["AWS_DEFAULT_REGION"];
  if (!region) return "AWS_REGION is not set: name the region of the stage, for example eu-west-1";
  return callerAccount(awsIn(region, "")).then(
    () => null,
    (error: unknown) => `no AWS account answers to these credentials (${String(error)}): sign in, or set AWS_PROFILE`,
  );
}

async function runAll(
  api: ApiClient,
  { kind, rates, seconds }: { kind: string; rates: readonly number[]; seconds: number },
): Promise<readonly Driven[]> {
  const results: Driven[] = [];
  for (const perSecond of rates) {
    const prefix = `bench-aws-${randomBytes(4).toString("hex")}-`;
    process.stderr.write(`${perSecond} a second for ${seconds} s, keys ${prefix}*\n`);
    results.push(await drive(api, { kind, prefix, rate: { perSecond, seconds }, settleMsMax }));
  }
  return results;
}

function table(results: readonly Driven[]): string {
  const heads =
    "asked/s,sent,refused,settled,failed,left,settled/s,answer p50,p99 ms,start p50,p99 ms,end p50,p99 ms".split(",");
  const rows = results.map((each) => [
    each.rate.perSecond,
    each.sent,
    each.refused,
    each.settled,
    each.failed,
    each.left,
    each.settledPerSecond.toFixed(1),
    ...[each.answerMs, each.startMs, each.endMs].flatMap(({ p50, p99 }) => [p50.toFixed(0), p99.toFixed(0)]),
  ]);
  return rowsTable(heads, rows);
}

function refused(why: string): number {
  process.stderr.write(`bench:aws did nothing: ${why}\n`);
  return 2;
}
