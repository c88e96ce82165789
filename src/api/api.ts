import type { z } from "zod";
import { type Context, Hono } from "hono";
import type { Log } from "../machine/ports.ts";
import { graphOf } from "../run/run-graph.ts";
import { mountApps } from "./apps.ts";
import { consolePage } from "./console.ts";
import { createAuditTrail } from "./audit-trail.ts";
import { type Caller, localCaller } from "./caller.ts";
import { type Endpoint, mount } from "./endpoint.ts";
import { plainHeaders, refuseForeign, requestIdOf } from "./guard.ts";
import { answerProblem, jsonAnswer } from "./json-answer.ts";
import { openApi, servedAt } from "./openapi.ts";
import { createMarks, shownProblem } from "./shown.ts";
import type { ApiOptions } from "./options.ts";
import { HttpProblem } from "./problem.ts";
import { boundsOf } from "./scope.ts";
import { problemOfStore } from "./store-failure.ts";
import { jobEndpoints } from "./routes/job.ts";
import { auditEndpoint, eventEndpoint } from "./routes/events.ts";
import { bulkEndpoints, deadLetterEndpoint } from "./routes/bulk.ts";
import { searchEndpoints } from "./routes/jobs.ts";
import { createJobEndpoint } from "./routes/create-job.ts";
import { healthEndpoints } from "./routes/health.ts";
import { kindFiguresEndpoint, overviewEndpoints } from "./routes/overview.ts";
import { kindsEndpoint } from "./routes/kinds.ts";
import { capEndpoint } from "./routes/caps.ts";
import { laneEndpoints, lockEndpoint } from "./routes/lanes.ts";
import { metricsEndpoint } from "./routes/metrics.ts";
import { previewEndpoint } from "./routes/preview.ts";
import { runEndpoints } from "./routes/runs.ts";
import { signalEndpoint } from "./routes/signal-run.ts";
import { scheduleControlEndpoints } from "./routes/schedule-control.ts";
import { scheduleOutcomeEndpoint } from "./routes/schedule-outcomes.ts";
import { scheduleEndpoints } from "./routes/schedules.ts";
import { nightEndpoint } from "./routes/night.ts";
import { simulationEndpoint } from "./routes/simulation.ts";
import { costsEndpoint } from "./routes/costs.ts";
import { objectivesEndpoint } from "./routes/objectives.ts";
import { upcomingEndpoint } from "./routes/upcoming.ts";
import { writeAudits } from "../insight/audit.ts";
import { stageKey } from "../insight/secrecy.ts";
import { closest } from "./closest.ts";

/**
 * The HTTP API: one fetch function for the server, the function URL and tests.
 * It has no users: unless signatures were checked before (`access`), it answers only requests to this machine, bound to
 * 127.0.0.1.
 * Errors are problem documents (RFC 9457) with a stable `code` and the path of each bad field.
 */
export function createApi(options: ApiOptions): Hono {
  const { insight } = options;
  const { log, random } = options.ports;
  const api = new Hono();
  api.use(plainHeaders(random), refuseForeign({ isLocal: options.access !== "signed" }));
  const audit = createAuditTrail({
    write: async (rows) => void (await insight.run(writeAudits, rows)),
    key: () => stageKey(insight),
    log,
  });
  const endpoints = endpointsOf(options);
  const marks = createMarks(options.registry.jobs.values(), {
    insight,
    clock: options.ports.clock,
  });
  const local = localCaller();
  const identify = options.identify ?? (() => local);
  const describe = documents(endpoints, options);
  api.get("/openapi.json", (c) => {
    const { origin } = new URL(c.req.url);
    return jsonAnswer(c, { status: 200, body: { ...describe(identify(c.req.raw, c.env)), ...servedAt(origin) } });
  });
  const shared = { identify, audit, marks, registry: options.registry };
  mount(api, endpoints, shared);
  mountApps(api, options, shared);
  if (options.console !== undefined) {
    api.route("/console", consolePage(options.console));
    api.get("/", (c) => c.redirect("/console/"));
  }
  const pages = ["/openapi.json", ...(options.console === undefined ? [] : ["/console", "/console/"])];
  const routes = [...endpoints, ...pages.map((path) => ({ method: "GET", path }) as const)];
  api.notFound((c) => {
    const problem = unknownRoute(routes, c.req);
    return c.req.method === "OPTIONS" && problem.status === 405
      ? c.body(null, 204, problem.headers)
      : answerProblem(c, problem);
  });
  api.onError((error, c) => {
    const problem = problemOf(error, c, log);
    const shown = (document: Readonly<Record<string, unknown>>) =>
      shownProblem(identify(c.req.raw, c.env), document, { quotes: problem.quotes, marks });
    return answerProblem(c, problem, shown);
  });
  return api;
}

/** A document for each scope that callers have: it names the kinds within. */
function documents(endpoints: readonly Endpoint[], { registry, version, access }: ApiOptions) {
  const made = new Map<string, ReturnType<typeof openApi>>();
  return (caller: Caller | null): ReturnType<typeof openApi> => {
    const scope = caller === null ? {} : caller.scope;
    const name = JSON.stringify(scope ?? null);
    const within = boundsOf(registry, scope);
    const startable = [...registry.jobs.values()].filter(
      ({ id }) => graphOf(registry, id) === null && within.hasKind(id),
    );
    const document = made.get(name) ?? openApi(endpoints, { version, isSigned: access === "signed", kinds: startable });
    made.set(name, document);
    return document;
  };
}

function problemOf(error: Error, c: Context, log: Log): HttpProblem {
  const about = { requestId: requestIdOf(c.req.raw), method: c.req.method, path: c.req.path };
  if (error instanceof HttpProblem && error.cause === undefined) {
    if (error.status === 401 || error.status === 403) log.warn("request refused", { ...about, code: error.code });
    return error;
  }
  const known = error instanceof HttpProblem ? error : problemOfStore(error, { isWrite: c.req.method !== "GET" });
  log.error("request failed", { ...about, error: error instanceof HttpProblem ? error.cause : error });
  return known ?? new HttpProblem("internal", "the request failed; the log has a line with this request id");
}

/** Everything the API answers, in the order of its documentation. */
export function endpointsOf(options: ApiOptions) {
  return [
    createJobEndpoint(options),
    ...searchEndpoints(options),
    ...jobEndpoints(options),
    ...runEndpoints(options),
    signalEndpoint(options),
    ...laneEndpoints(options),
    capEndpoint(options),
    ...overviewEndpoints(options),
    deadLetterEndpoint(options),
    ...bulkEndpoints(options),
    lockEndpoint(options),
    auditEndpoint(options),
    eventEndpoint(options),
    ...scheduleEndpoints(options),
    scheduleOutcomeEndpoint(options),
    upcomingEndpoint(options),
    simulationEndpoint(options),
    objectivesEndpoint(options),
    costsEndpoint(options),
    nightEndpoint(options),
    ...scheduleControlEndpoints(options),
    previewEndpoint(options),
    ...healthEndpoints(options),
    kindsEndpoint(options),
    kindFiguresEndpoint(options),
    metricsEndpoint(options),
  ];
}

type Operation = ReturnType<typeof endpointsOf>[number];
export type OperationName = Operation["name"];
/** What an operation answers with as JSON, under any of its statuses. */
export type ReplyOf<N extends OperationName> = Reply<Extract<Operation, { readonly name: N }>>;
/** `GET /jobs/:id`. */
export type OperationAt = Operation["at"];
export type ReplyAt<A extends OperationAt> = Reply<Extract<Operation, { readonly at: A }>>;
type Reply<O> = O extends { readonly replies: infer R } ? object & z.infer<Extract<R[keyof R], z.ZodType>> : never;

/** For a path that exists the answer names its methods; for any other, resources with a similar name. */
export function unknownRoute(
  endpoints: readonly Pick<Endpoint, "method" | "path">[],
  { method, path }: { readonly method: string; readonly path: string },
): HttpProblem {
  const here = endpoints.filter((each) => patternOf(each.path).test(path)).map((each) => each.method);
  if (here.length > 0) {
    const allow = [...new Set([...here, ...(here.includes("GET") ? ["HEAD"] : []), "OPTIONS"])].join(", ");
    return new HttpProblem("method-not-allowed", `${path} has no ${method}: it has ${allow}`, { headers: { allow } });
  }
  const resources = [...new Set(endpoints.map((each) => `/${each.path.split("/")[1] ?? ""}`))];
  const near = closest(
    path.split("/")[1] ?? "",
    resources.map((each) => each.slice(1)),
  );
  const hint = near.length > 0 ? `did you mean /${near.join(" or /")}? ` : "";
  const detail = `there is no ${path.slice(0, 200)}: ${hint}the resources are ${resources.join(", ")}; /openapi.json describes them, docs/api.md shows each`;
  return new HttpProblem("no-such-route", detail);
}

const patternOf = (path: string): RegExp => new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`);
