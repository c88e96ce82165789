// k6 run -e API=http://127.0.0.1:4400 bench/k6/taskflow.js
// Many clients create jobs at once, two with each key; some of them fail, and each is followed to its end.
import http from "k6/http";
import { check, sleep } from "k6";

export const options = {
  scenarios: { create: { executor: "constant-vus", vus: 50, duration: "10s", gracefulStop: "3m" } },
  thresholds: { checks: ["rate==1"], "http_req_duration{name:create}": ["p(99)<500"] },
};

const api = `${__ENV.API || "http://127.0.0.1:4400"}/apps/taskflow/jobs`;
const headers = { "content-type": "application/json" };
const run = Date.now().toString(36);

/** How a job must end, by its type: its status, and the code of an attempt that failed. */
const ends = { succeed: ["SUCCESS", null], flaky: ["SUCCESS", "HTTP_503"], rejected: ["FAILED", "HTTP_422"] };

export default function () {
  // Two clients share each key.
  const n = Math.floor(__VU / 2);
  const type = n % 10 === 9 ? "rejected" : n % 7 === 3 ? "flaky" : "succeed";
  const report = `k6-${run}-${n}-${__ITER}`;
  const body = JSON.stringify({ job_key: report, type, payload: { report } });
  const created = http.post(api, body, { headers, tags: { name: "create" } });
  check(created, { "created or known": ({ status }) => status === 201 || status === 200 });
  let shown = http.get(`${api}/${report}`);
  check(shown, { "shows the same job": (answer) => answer.json("id") === created.json("id") });
  for (let looks = 0; looks < 150 && !["SUCCESS", "FAILED"].includes(shown.json("status")); looks++) {
    sleep(1);
    shown = http.get(`${api}/${report}`);
  }
  const [status, code] = ends[type];
  const codes = shown.json("attempts").map((attempt) => attempt.error_code);
  check(shown, {
    "ended as its type must": (answer) => answer.json("status") === status && (code === null || codes.includes(code)),
  });
}
