import { type ChildProcess, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openServer } from "../ground.ts";
import { median } from "../rounds.ts";
import { barOf } from "./bars.ts";
import { type FromSide, quantities, type Report, type Sample, type Series, type SideOptions } from "./messages.ts";

/** One line of the comparison: medians of the rounds, and the median of the rounds' own ratios. */
export interface Comparison {
  readonly name: string;
  readonly quantity: keyof Sample | "heapOnly";
  readonly here: number;
  readonly there: number;
  readonly ratio: number;
  readonly roof: number | null;
  readonly bar: number | null;
  readonly pass: boolean;
}

const repository = fileURLToPath(new URL("../../", import.meta.url));

/**
 * Runs the cases of this checkout and of `commit` on one server, round by round in turns, each with its own migrations.
 * @throws Error when the commit is not known, or has no such case.
 */
export async function compare(names: readonly string[], commit: string): Promise<readonly Comparison[]> {
  const there = openWorktree(commit);
  const server = await openServer();
  const comparisons: Comparison[] = [];
  try {
    for (const name of names) {
      const options = { name, server: server.url };
      const here = startSide({ ...options, root: repository, prefix: `here_${name}`, withRoof: true });
      const other = startSide({ ...options, root: there.folder, prefix: `there_${name}`, withRoof: false });
      try {
        comparisons.push(...comparedReports(name, ...(await inTurns(here, other))));
      } finally {
        for (const side of [here, other]) side.process.kill("SIGKILL");
      }
      process.stderr.write(`${name} is compared\n`);
    }
  } finally {
    await server.close();
    there.remove();
  }
  return comparisons;
}

/** The modules are those of this checkout: a commit whose dependencies differ fails as it is loaded. */
function openWorktree(commit: string): { folder: string; remove(): void } {
  const parent = mkdtempSync(join(tmpdir(), "belfry-against-"));
  const folder = join(parent, "worktree");
  const git = (...args: readonly string[]): Buffer =>
    execFileSync("git", ["-C", repository, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const remove = (): void => {
    rmSync(parent, { recursive: true, force: true });
    git("worktree", "prune");
  };
  process.once("exit", () => rmSync(parent, { recursive: true, force: true }));
  try {
    git("worktree", "add", "--quiet", "--detach", folder, commit);
    symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  } catch (error) {
    remove();
    throw error;
  }
  return { folder, remove };
}

interface Side {
  readonly process: ChildProcess;
  /** What it says next. @throws Error when it ends without its report. */
  next(): Promise<FromSide>;
}

function startSide(options: SideOptions): Side {
  const child = fork(new URL("side.ts", import.meta.url), [JSON.stringify(options)]);
  const ended = once(child, "exit").then(([code]) => {
    throw new Error(`the side of ${options.root} ended with code ${code} and without its figures`);
  });
  ended.catch(() => {});
  return {
    process: child,
    async next() {
      const [message] = (await Promise.race([once(child, "message"), ended])) as [FromSide];
      return message;
    },
  };
}

/** One side works at a time; which of them is first changes with each turn. */
async function inTurns(here: Side, there: Side): Promise<readonly [Report, Report]> {
  const said = new Map<Side, FromSide>();
  for (const side of [here, there]) said.set(side, await side.next());
  for (let order = [here, there]; ; order = order.toReversed()) {
    for (const side of order) await takeTurn(side, said);
    const [mine, its] = [said.get(here), said.get(there)];
    if (mine !== undefined && its !== undefined && "report" in mine && "report" in its)
      return [mine.report, its.report];
  }
}

/** A product, and the roof behind it where this side measures it. */
async function takeTurn(side: Side, said: Map<Side, FromSide>): Promise<void> {
  let now = said.get(side);
  do {
    if (now === undefined || "report" in now) return;
    const next = side.next();
    side.process.send("go");
    now = await next;
    said.set(side, now);
  } while ("waitsFor" in now && now.waitsFor === "roof");
}

function comparedReports(name: string, here: Report, there: Report): readonly Comparison[] {
  const lines = here.series.flatMap((series) => {
    const other = there.series.find((each) => each.name === series.name);
    return other === undefined ? [] : quantities.map((quantity) => comparedSeries(quantity, series, other));
  });
  if (lines.length === 0) throw new Error(`${name}: the two commits have no series in common`);
  const heapOnly = { here: here.heapOnly, there: there.heapOnly, ratio: here.heapOnly / there.heapOnly };
  return [...lines, { name, quantity: "heapOnly", ...heapOnly, roof: null, bar: null, pass: true }];
}

function comparedSeries(quantity: keyof Sample, here: Series, there: Series): Comparison {
  const values = here.product.map((sample) => sample[quantity]);
  const others = there.product.map((sample) => sample[quantity]);
  const ratio = median(values.map((value, round) => value / (others[round] ?? Number.NaN)));
  const roofs = here.roof.map((sample) => sample[quantity]);
  const bar = barOf(here.name, quantity);
  const bounded = quantity === "perSecond" ? 1 / ratio : ratio;
  return {
    name: here.name,
    quantity,
    here: median(values),
    there: median(others),
    ratio,
    roof: roofs.length === 0 ? null : median(roofs),
    bar,
    pass: bar === null || bounded <= bar,
  };
}
