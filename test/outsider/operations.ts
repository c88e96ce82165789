import type { OpenApiDocument } from "../api/documented.ts";
import { letPass } from "../proof/until.ts";
import type { Target } from "./world.ts";

type Values = Readonly<Record<string, unknown>>;

/** An operation with the values of its example, as a client calls it. */
export interface Call {
  readonly name: string;
  readonly method: string;
  /** With its parameters as `{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly params: Values;
  readonly query: Values;
  readonly body: object | undefined;
  readonly statuses: readonly string[];
  /** Its answer has no JSON, or is a stream as well. */
  readonly isText: boolean;
}

/** What has to happen before what; the others follow in the order of the document. */
const first = ["createSchedule", "createJob", "cancelJob", "retryJob", "signalRun", "cancelRun", "retryRun"];
const last = ["deleteSchedule"];

interface Shown {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly example?: unknown }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
  readonly responses: Readonly<Record<string, { readonly content?: object }>>;
}

/** Every operation once, with its example, as a document shows it. `ids` replace those that the examples name. */
export function callsOf(document: OpenApiDocument, ids: Readonly<Record<string, string>>): readonly Call[] {
  const all = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods as unknown as Readonly<Record<string, Shown>>).map(([method, shown]): Call => {
      const values = (place: string): Values =>
        Object.fromEntries(
          shown.parameters.flatMap((each) => {
            if (each.in !== place || each.example === undefined) return [];
            return [[each.name, ids[`${path} ${each.name}`] ?? each.example]];
          }),
        );
      const statuses = Object.keys(shown.responses).filter((status) => status < "300");
      const content = Object.keys(shown.responses[statuses[0] ?? ""]?.content ?? {});
      return {
        name: shown.operationId,
        method: method.toUpperCase(),
        path,
        tag: shown.tags[0] ?? "",
        params: values("path"),
        query: values("query"),
        body: shown.requestBody?.content["application/json"]?.example,
        statuses,
        isText: content.some((type) => type.startsWith("text/")),
      };
    }),
  );
  const place = ({ name }: Call): number => {
    if (last.includes(name)) return Infinity;
    return first.includes(name) ? first.indexOf(name) : first.length;
  };
  return all.toSorted((a, b) => place(a) - place(b) || 0);
}

const runMsMax = 90_000;

/** Makes what the examples change: a job that waits, a bulk action, and a run that is open. @returns their ids for `callsOf`. */
export async function prepareIds({ url, document }: Target): Promise<Readonly<Record<string, string>>> {
  const post = async (path: string, body: object): Promise<{ id: string }> => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path} answered ${answer.status} to ${JSON.stringify(body)}`);
    return (await answer.json()) as { id: string };
  };
  // A fault may have left it: the examples make and delete it.
  await fetch(`${url}/schedules/nightly`, { method: "DELETE" });
  const job = await post("/jobs", { kind: "hello", delay: "1h" });
  const bulk = await post("/bulk", { action: "retry", filter: { key: "none" } });
  const waiting = await post("/jobs", { kind: "hello", delay: "1h" });
  const { id: starter } = await post("/jobs", { kind: "steps" });
  const deadline = performance.now() + runMsMax;
  for (;;) {
    const answer = await fetch(`${url}/runs?kind=steps&state=RUNNING&limit=500`);
    const [run] = ((await answer.json()) as { runs: { id: string }[] }).runs;
    if (run !== undefined) {
      const ids = idsOf(document, { jobs: job.id, bulk: bulk.id, runs: run.id });
      return { ...ids, "/jobs/{id}/run-now id": waiting.id };
    }
    if (performance.now() > deadline) throw new Error(`job ${starter} started no run in ${runMsMax} ms`);
    await letPass(300);
  }
}

function idsOf({ paths }: OpenApiDocument, ids: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.keys(paths).flatMap((path) => {
      const id = ids[path.split("/")[1] ?? ""];
      return id === undefined || !path.includes("{id}") ? [] : [[`${path} id`, id]];
    }),
  );
}
