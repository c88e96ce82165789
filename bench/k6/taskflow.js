// k6 run -e API=http://127.0.0.1:4400 bench/k6/taskflow.js
// Many clients create jobs, some of them with a key that others use at the same time, and read them back.
import http from "k6/http";
import { check } from "k6";

export const options = {
  scenarios: { create: { executor: "constant-vus", vus: 50, duration: "10s" } },
  thresholds: { checks: ["rate==1"], http_req_duration: ["p(99)<500"] },
};

const api = `${__ENV.API || "http://127.0.0.1:4400"}/apps/taskflow/jobs`;
const headers = { "content-type": "application/json" };

export default function () {
  // Two clients share each key.
  const report = `k6-${Math.floor(__VU / 2)}-${__ITER}`;
  const body = JSON.stringify({ job_key: `k6:${report}`, job_type: "succeed", report });
  const created = http.post(api, body, { headers });
  check(created, { "created or known": ({ status }) => status === 201 || status === 200 });
  const shown = http.get(`${api}/k6:${report}`);
  check(shown, { "shows the same job": (answer) => answer.json("job_id") === created.json("job_id") });
}
