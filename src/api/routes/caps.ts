import { capByKeyGate } from "../../admission/cap-by-key.ts";
import { capGate } from "../../admission/cap.ts";
import { type Rate, rateGate } from "../../admission/rate.ts";
import { isByKey } from "../../admission/slots.ts";
import type { JobDefinition, Limited } from "../../define/definition.ts";
import { ProblemList } from "../../define/problem.ts";
import { rateFrom } from "../../define/rate.ts";
import type { SlotGroup } from "../../machine/job.ts";
import { z } from "zod";
import { contractLimits } from "../../machine/contract-limits.ts";
import { noAftermath } from "../../machine/outbox.ts";
import { afterCommit } from "../../run/after-commit.ts";
import { count } from "../../insight/atoms.ts";
import { closest } from "../closest.ts";
import { endpoint } from "../endpoint.ts";
import type { ApiOptions } from "../options.ts";
import { HttpProblem } from "../problem.ts";
import { durationUpTo, text } from "../query-fields.ts";

const { slotsMax, slotsPerKeyMax, rateMax, ratePerMsMax, idCharactersMax } = contractLimits;

const rateBody = z.strictObject({
  limit: z.int().min(1).max(rateMax),
  per: durationUpTo(ratePerMsMax, "From `1s` to `24h`."),
  burst: z.int().min(1).max(slotsPerKeyMax).optional(),
});

/** @throws HttpProblem 422 for one that a definition could not have either. */
function readRate({ limit, per, burst }: z.infer<typeof rateBody>): Rate {
  const problems = new ProblemList("");
  const rate = rateFrom({ limit, per: `${per}ms`, ...(burst === undefined ? {} : { burst }) }, problems);
  const issues = problems.found.map(({ rule }) => ({ path: "rate", message: rule }));
  if (rate !== null && issues.length === 0) return rate;
  throw new HttpProblem("invalid-rate", issues.map(({ message }) => `rate: ${message}`).join("; "), { issues });
}

export function capEndpoint({ ports, registry }: ApiOptions) {
  return endpoint("PUT /caps/:kind", {
    name: "setCap",
    refuses: ["no-cap", "invalid-rate"],
    summary:
      "How many jobs of a kind or a shared limit run at once or start in a time, until the next release brings its own numbers",
    description:
      "Holds until the next release installs the numbers of the definition. A larger number holds at once, for jobs that wait for their key within a pass of the scheduler; a smaller one as jobs end. A rate holds for the next starts: in the time of the change both may count. A shared limit is `@NAME`.",
    example: { params: { kind: "report" }, body: { size: 3 } },
    scope: ({ params }) => ({ kinds: [params.kind] }),
    params: z.object({ kind: text(idCharactersMax + 1) }),
    body: z
      .strictObject({
        size: z.int().min(1).max(slotsMax).optional(),
        perKey: z.int().min(1).max(slotsPerKeyMax).optional(),
        rate: rateBody.optional(),
      })
      .refine((body) => Object.values(body).some((each) => each !== undefined), "needs size, perKey or rate")
      .meta({ minProperties: 1 }),
    replies: { 200: capReply },
    async reply({ params: { kind }, body: { size, perKey, rate: given } }) {
      const rate = given === undefined ? undefined : readRate(given);
      const known = new Map<string, Limited | JobDefinition>([...registry.jobs, ...registry.limits]);
      const definition = known.get(kind);
      const changes = {
        max: changed(definition, capGate, size),
        perKey: changed(definition, capByKeyGate, perKey),
        rate: changedRate(definition, rate),
      };
      const fields = ["max", "perKey", "rate"] as const;
      const lacking = fields.find((field) => changes[field] === undefined);
      if (definition === undefined || lacking !== undefined) {
        const field = lacking ?? "max";
        const ids = [...known.values()].filter((each) => numbersOf(each)[field] !== null).map(({ id }) => id);
        const what = field === "rate" ? "rate" : `cap ${field}`;
        const fix = field === "rate" ? "a rate" : "a concurrency";
        const detail = `${JSON.stringify(kind)} has no ${what}: ${ids.join(", ") || "no job"} has; give the definition ${fix}`;
        throw new HttpProblem("no-cap", detail, { extra: { near: closest(kind, ids) } });
      }
      const groups = fields.flatMap((field) => changes[field] ?? []);
      await ports.store.installSlots(groups);
      const freed = groups.filter((group) => !isByKey(group)).map(({ key }) => key);
      await afterCommit(ports, { ...noAftermath, freed });
      const code = numbersOf(definition);
      return {
        kind,
        size: size ?? null,
        perKey: perKey ?? null,
        rate: shownRate(rate ?? null),
        code: code.max,
        codePerKey: code.perKey,
        codeRate: code.rate,
      };
    },
  });
}

const numbersOf = ({ concurrency, concurrencyByKey, rate }: Limited | JobDefinition) => ({
  max: concurrency,
  perKey: concurrencyByKey?.perKey ?? null,
  rate: shownRate(rate),
});

const shownRate = (rate: Rate | null) =>
  rate === null ? null : { limit: rate.limit, perMs: rate.perMs, burst: rate.burst };

const rateReply = z.object({ limit: count, perMs: count, burst: count }).meta({ id: "Rate" });

/** The numbers that were changed, and those of the code. */
const capReply = z
  .object({
    kind: z.string(),
    size: count.nullable(),
    code: count.nullable(),
    perKey: count.nullable(),
    codePerKey: count.nullable(),
    rate: rateReply.nullable(),
    codeRate: rateReply.nullable(),
  })
  .meta({ id: "Cap" });

/** The group of a cap with another size; none when it is to stay, undefined when the kind has no such cap. */
function changed(
  definition: Limited | JobDefinition | undefined,
  gate: typeof capGate | typeof capByKeyGate,
  size: number | undefined,
): readonly SlotGroup[] | undefined {
  if (size === undefined) return [];
  const group = definition === undefined ? null : gate.groupOf(definition);
  return group === null ? undefined : [{ ...group, size }];
}

/** The same of a rate. What is spent comes back at the time that it was spent for. */
function changedRate(
  definition: Limited | JobDefinition | undefined,
  rate: Rate | undefined,
): readonly SlotGroup[] | undefined {
  if (rate === undefined) return [];
  if (definition === undefined || definition.rate === null) return undefined;
  const group = rateGate.groupOf({ id: definition.id, rate: { ...rate, key: definition.rate.key } });
  return group === null ? undefined : [group];
}
