import { Hono } from "hono";
import { mountApps } from "./apps.ts";
import { consolePage } from "./console.ts";
import { createAuditTrail } from "./audit-trail.ts";
import type { Identify } from "./caller.ts";
import { type Endpoint, mount } from "./endpoint.ts";
import { jsonWrites, localOnly } from "./guard.ts";
import { openApi } from "./openapi.ts";
import type { ApiOptions } from "./options.ts";
import { answerProblem, Problem } from "./problem.ts";
import { auditEndpoints } from "./routes/audits.ts";
import { bulkEndpoints } from "./routes/bulk.ts";
import { countJobsEndpoint } from "./routes/count-jobs.ts";
import { createJobEndpoint } from "./routes/create-job.ts";
import { deadLetterEndpoints } from "./routes/dead-letters.ts";
import { explainEndpoint } from "./routes/explain.ts";
import { eventEndpoints } from "./routes/events.ts";
import { healthEndpoint } from "./routes/health.ts";
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
 * The HTTP API: a fetch-shaped app, so that a server, a function URL and a test call the same thing.
 * It knows no users: unless signatures were checked before (`access`), it answers requests to this machine only, bound
 * to 127.0.0.1.
 * Errors are problem documents (RFC 9457) with a stable `code` and the path of each bad field.
 */
export function createApi(options: ApiOptions): Hono {
  const api = new Hono();
  if (options.access !== "signed") api.use(localOnly);
  api.use(jsonWrites);
  const audit = createAuditTrail({
    write: (rows) => options.operations.note(rows),
    random: options.ports.random,
    log: options.ports.log,
  });
  const endpoints = endpointsOf(options);
  const document = openApi(endpoints, options.version);
  api.get("/openapi.json", (c) => c.json(document));
  const shared = { identify: options.identify ?? everybody, audit };
  mount(api, endpoints, shared);
  mountApps(api, options, shared);
  if (options.console !== undefined) {
    api.route("/console", consolePage(options.console));
    api.get("/", (c) => c.redirect("/console/"));
  }
  api.notFound((c) => {
    const detail = `there is no ${c.req.method} ${c.req.path}; the resources are /jobs, /schedules, /apps and /health`;
    return answerProblem(c, new Problem(404, "no-such-route", detail));
  });
  api.onError((error, c) => {
    if (error instanceof Problem) return answerProblem(c, error);
    const trace = options.ports.random.id();
    options.ports.log.error("request failed", { trace, method: c.req.method, path: c.req.path, error });
    return answerProblem(c, unexpected(error, trace));
  });
  return api;
}

/** Everything the API answers, in the order of its documentation. */
export function endpointsOf(options: ApiOptions): readonly Endpoint[] {
  return [
    createJobEndpoint(options),
    countJobsEndpoint(options),
    ...jobEndpoints(options),
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
    healthEndpoint(options),
    metricsEndpoint(options),
  ];
}

const everybody: Identify = () => ({ name: "local", role: "operate" });

/** The caller learns whether to try again and which log line to look for, and nothing of what is inside. */
function unexpected(error: unknown, trace: string): Problem {
  const code = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  if (/^(ECONN|EPIPE|ETIMEDOUT|ENOTFOUND|08|57P|53300)/.test(code)) {
    return new Problem(503, "store-away", "the database does not answer: try again in a few seconds", {
      extra: { trace },
    });
  }
  return new Problem(500, "internal", "the request failed; the log has a line with this trace", { extra: { trace } });
}
