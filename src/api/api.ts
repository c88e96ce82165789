import { type Context, Hono } from "hono";
import type { Log } from "../core/ports/ports.ts";
import { mountApps } from "./apps.ts";
import { consolePage } from "./console.ts";
import { createAuditTrail } from "./audit-trail.ts";
import { localCaller } from "./caller.ts";
import { type Endpoint, mount } from "./endpoint.ts";
import { localOnly, sameOriginOnly } from "./guard.ts";
import { jsonAnswer } from "./json-answer.ts";
import { openApi } from "./document/openapi.ts";
import { createMarks } from "./marks.ts";
import type { ApiOptions } from "./options.ts";
import { apiVersion, plainHeaders } from "./plain-headers.ts";
import { answerProblem, HttpProblem } from "./problem.ts";
import { shownProblem } from "./shown.ts";
import { numbered, requestIdOf } from "./request-id.ts";
import { problemOfStore } from "./store-failure.ts";
import { unknownRoute } from "./unknown-route.ts";
import { attemptEndpoint } from "./routes/attempt.ts";
import { auditEndpoints } from "./routes/audits.ts";
import { bulkEndpoints } from "./routes/bulk.ts";
import { countJobsEndpoint } from "./routes/count-jobs.ts";
import { createJobEndpoint } from "./routes/create-job.ts";
import { deadLetterEndpoints } from "./routes/dead-letters.ts";
import { explainEndpoint } from "./routes/explain.ts";
import { eventEndpoints } from "./routes/events.ts";
import { healthEndpoints } from "./routes/health.ts";
import { kindFiguresEndpoint } from "./routes/kind-figures.ts";
import { kindsEndpoint } from "./routes/kinds.ts";
import { jobEndpoints } from "./routes/jobs.ts";
import { capEndpoint, laneEndpoints } from "./routes/lanes.ts";
import { lockEndpoints } from "./routes/locks.ts";
import { metricsEndpoint } from "./routes/metrics.ts";
import { overviewEndpoints } from "./routes/overview.ts";
import { previewEndpoint } from "./routes/preview.ts";
import { runEndpoints } from "./routes/runs.ts";
import { runMapEndpoint } from "./routes/run-map.ts";
import { scheduleControlEndpoints } from "./routes/schedule-control.ts";
import { scheduleOutcomeEndpoint } from "./routes/schedule-outcomes.ts";
import { scheduleEndpoints } from "./routes/schedules.ts";
import { upcomingEndpoint } from "./routes/upcoming.ts";

/**
 * The HTTP API: one fetch function for the server, the function URL and tests.
 * It has no users: unless signatures were checked before (`access`), it answers only requests to this machine, bound to
 * 127.0.0.1.
 * Errors are problem documents (RFC 9457) with a stable `code` and the path of each bad field.
 */
export function createApi(options: ApiOptions): Hono {
  const { log, random } = options.ports;
  const api = new Hono();
  api.use(numbered(random), plainHeaders);
  if (options.access !== "signed") api.use(localOnly);
  api.use(sameOriginOnly, apiVersion);
  const audit = createAuditTrail({
    write: (rows) => options.operations.note(rows),
    key: () => options.operations.stageKey(),
    log,
  });
  const endpoints = endpointsOf(options);
  const document = openApi(endpoints, options.version);
  api.get("/openapi.json", (c) => jsonAnswer(c, { status: 200, body: document }));
  const marks = createMarks(options.registry.jobs.values(), {
    secrecy: options.operations,
    clock: options.ports.clock,
  });
  const identify = options.identify ?? (() => localCaller());
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
export function endpointsOf(options: ApiOptions): readonly Endpoint[] {
  return [
    createJobEndpoint(options),
    countJobsEndpoint(options),
    ...jobEndpoints(options),
    attemptEndpoint(options),
    explainEndpoint(options),
    ...runEndpoints(options),
    runMapEndpoint(options),
    ...laneEndpoints(options),
    capEndpoint(options),
    ...overviewEndpoints(options),
    ...deadLetterEndpoints(options),
    ...bulkEndpoints(options),
    ...lockEndpoints(options),
    ...auditEndpoints(options),
    ...eventEndpoints(options),
    ...scheduleEndpoints(options),
    scheduleOutcomeEndpoint(options),
    upcomingEndpoint(options),
    ...scheduleControlEndpoints(options),
    previewEndpoint(options),
    ...healthEndpoints(options),
    kindsEndpoint(options),
    kindFiguresEndpoint(options),
    metricsEndpoint(options),
  ];
}
