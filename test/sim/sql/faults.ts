import type { Layer } from "../store.ts";

interface Edit {
  /** The name of the statement, or several. */
  readonly of: string | readonly string[];
  readonly from: string;
  readonly to: string;
}

/** One wrong statement. All others, and the core, stay as they are. */
export interface SqlFault {
  readonly name: string;
  /** What is wrong, as a reviewer would write it. */
  readonly bug: string;
  /** Self-healing that would hide the fault, switched off. */
  readonly without: readonly Layer[];
  readonly edits: readonly Edit[];
}

const fault = (name: string, bug: string, edits: readonly Edit[], without: readonly Layer[] = []): SqlFault => ({
  name,
  bug,
  without,
  edits,
});

export const sqlFaults: readonly SqlFault[] = [
  fault("any-generation", "a claim takes any message of the job, whatever its generation", [
    { of: "claim", from: "j.generation = ($2::int[])[", to: "j.generation + 1 > 0 * ($2::int[])[" },
  ]),
  fault("not-yet-due", "a claim does not look at the due time", [
    { of: "claim", from: "and j.due_at <= belfry.now()", to: "" },
  ]),
  fault("lease-without-length", "a claim gives a lease that has ended already", [
    { of: ["claim", "claim-full"], from: "belfry.now() + belfry.waited() + belfry.span(lease_ms)", to: "belfry.now()" },
  ]),
  fault("slot-taken-twice", "a claim takes slots that other jobs hold", [
    { of: "claim-full", from: "(s.job_id is null or", to: "(true or" },
  ]),
  fault("any-attempt", "a settle is taken from every worker and attempt of the job", [
    { of: "settle", from: "and j.worker = $13 and j.attempt = ($2", to: "and j.attempt >= 0 * ($2" },
    {
      of: ["settle-success", "settle-tasks"],
      from: "and j.worker = $3 and j.attempt = ($2",
      to: "and j.attempt >= 0 * ($2",
    },
    { of: "settle-full", from: "j.state = 'RUNNING' and j.worker = $13", to: "j.state = 'RUNNING'" },
    { of: "settle-full", from: "and attempt = ($2", to: "and attempt >= 0 * ($2" },
  ]),
  fault("failures-not-counted", "a settle does not count a failure", [
    { of: ["settle", "settle-full"], from: "failures = j.failures + ($8", to: "failures = j.failures + 0 * ($8" },
  ]),
  fault("seat-kept", "a settle leaves its slots to the job that ended", [
    { of: "settle-full", from: "job_id = case when m.goes_on then m.id end", to: "job_id = m.id" },
  ]),
  fault(
    "batch-forgotten",
    "the statement that makes a job QUEUED again writes no outbox batch",
    [
      {
        of: ["settle-full", "relay"],
        from: "where to_state = 'QUEUED' group by lane",
        to: "where false group by lane",
      },
    ],
    ["requeue"],
  ),
  fault("lost-too-early", "rescue takes leases that have a minute left", [
    { of: ["rescue", "lease-lapsed"], from: "until < belfry.now()", to: "until < belfry.now() + interval '1 minute'" },
  ]),
  fault("canceled-slot-free", "cancel frees the slots of a running job at once", [
    {
      of: "cancel",
      from: "set free_from = greatest(l.until, belfry.now() + belfry.span(m.lease_ms + 1000))",
      to: "set free_from = belfry.now()",
    },
  ]),
  fault("any-token", "a pass may write under every fence token", [
    { of: "begin-fenced", from: "and token = ", to: "and token > 0 * " },
  ]),
  fault("token-lowered", "an older holder's token replaces the newer one", [
    { of: "fence-raise", from: "where excluded.token > f.token", to: "" },
  ]),
  fault("key-forgotten", "a job is inserted without its key", [
    { of: "insert", from: "select g.id, kind, key, payload::jsonb", to: "select g.id, kind, null, payload::jsonb" },
  ]),
  fault("any-version", "a tick plans with a version of the schedule that was replaced since", [
    { of: "plan", from: "and s.version = p.version", to: "" },
  ]),
  fault("join-by-one", "the end of two predecessors at once counts as one", [
    {
      of: ["settle-full", "settle-tasks", "resolve-ends", "resolve-joins"],
      from: "l.preds_open - l.n,",
      to: "l.preds_open - 1,",
    },
    {
      of: ["settle-full", "settle-tasks", "resolve-ends", "resolve-joins"],
      from: "t.preds_open - j.n",
      to: "t.preds_open - 1",
    },
  ]),
  fault(
    "nothing-woken",
    "a freed slot wakes no held job",
    [{ of: "wake", from: "limit case when called.free > 0", to: "limit case when false" }],
    ["wake"],
  ),
];

/** The text that a fault changes is not there any more. */
export class Unfit extends Error {}

/** @throws Error that lists the known names. */
export function sqlFaultNamed(name: string): SqlFault {
  const found = sqlFaults.find((each) => each.name === name);
  if (found !== undefined) return found;
  throw new Error(`unknown fault "${name}": one of ${sqlFaults.map((each) => each.name).join(", ")}`);
}

/** Plants the fault in each text that is sent. @throws Unfit */
export function planted({ name, edits }: SqlFault): (text: string) => string {
  return (text) =>
    edits
      .filter(({ of }) => [of].flat().some((statement) => text.startsWith(`/* belfry:${statement} */`)))
      .reduce((before, { of, from, to }) => {
        if (!before.includes(from))
          throw new Unfit(`fault "${name}": ${String(of)} has no text ${JSON.stringify(from)}`);
        return before.replaceAll(from, to);
      }, text);
}
