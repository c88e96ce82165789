import { z } from "zod";
import type { JobDefinition, Registry } from "../define/definition.ts";
import { hasKeyedSlots, slotKeysOf } from "../define/new-job.ts";
import { graphOf } from "../run/run-graph.ts";
import { sqlQuery } from "./sql-query.ts";

/** As JSON Schema. Only zod says what its schemas are; `{}` stands for any other library's, null for a job that takes no payload. */
export function payloadSchema({ schema }: JobDefinition): unknown {
  if (schema === null) return null;
  if (!(schema instanceof z.ZodType)) return {};
  const { $schema: _, ...json } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return json;
}

/** Why SQL cannot write jobs of a kind; null: it can. */
function refusalOf(registry: Registry, definition: JobDefinition): string | null {
  if (definition.seal !== null) return "its payload is sealed, and SQL has no key: enqueue by the package or the API";
  const graph = graphOf(registry, definition.id);
  if (graph !== null) return `it is a task of the graph ${graph}: enqueue that`;
  const made =
    definition.key !== null
      ? "key"
      : hasKeyedSlots(definition)
        ? "key of its cap, rate or limit"
        : turnMade(definition);
  return made === null ? null : `its code makes the ${made} from the payload: enqueue by the package or the API`;
}

const turnMade = ({ turns, debounce, body }: JobDefinition): string | null =>
  body.is === "batch"
    ? "key of its batch"
    : debounce !== null
      ? "key of its debounce"
      : turns === null
        ? null
        : "turn in its lane";

/**
 * What `belfry.enqueue` writes jobs by: the kinds of these apps as they are now; those that an app has no more go. Answers what
 * changed.
 * Locks: rows of its apps, in the order of their ids. $1 apps $2 kinds
 */
export const writeKinds = sqlQuery("kinds-write", {
  params: (registry: Registry) => [
    registry.apps.map(({ name }) => name),
    JSON.stringify(
      registry.apps.flatMap(({ name, jobs }) =>
        jobs.map((each) => ({
          id: each.id,
          app: name,
          lane: each.lane,
          lease_ms: each.leaseMs,
          max_attempts: each.retry.maxAttempts,
          retention_ms: each.retentionMs,
          slot_keys: slotKeysOf(each),
          refusal: refusalOf(registry, each),
          payload: payloadSchema(each),
        })),
      ),
    ),
  ],
  row: z.object({ id: z.string(), what: z.enum(["new", "removed", "changed"]) }),
})(`
with given as materialized (
  select * from jsonb_to_recordset($2::jsonb) as v (id text, app text, lane text, lease_ms int, max_attempts int,
    retention_ms bigint, slot_keys text[], refusal text, payload jsonb)
), old as materialized (
  select * from belfry.kind where app = any($1::text[]) order by id for update
), gone as (
  delete from belfry.kind where id in (select id from old except select id from given)
), written as (
  insert into belfry.kind (id, app, lane, lease_ms, max_attempts, retention_ms, slot_keys, refusal, payload)
  select id, app, lane, lease_ms, max_attempts, retention_ms, slot_keys, refusal, nullif(payload, 'null') from given order by id
  on conflict (id) do update set (app, lane, lease_ms, max_attempts, retention_ms, slot_keys, refusal, payload) = (excluded.app,
    excluded.lane, excluded.lease_ms, excluded.max_attempts, excluded.retention_ms, excluded.slot_keys, excluded.refusal,
    excluded.payload)
)
select coalesce(g.id, o.id) as id, case when o.id is null then 'new' when g.id is null then 'removed' else 'changed' end as what
from given g full join old o on o.id = g.id
where (g.app, g.lane, g.lease_ms, g.max_attempts, g.retention_ms, g.slot_keys, g.refusal, nullif(g.payload, 'null'))
  is distinct from (o.app, o.lane, o.lease_ms, o.max_attempts, o.retention_ms, o.slot_keys, o.refusal, o.payload)
order by 1`);
