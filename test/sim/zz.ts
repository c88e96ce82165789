import { openSqlServer } from "./sql/server.ts";
import { simulate } from "./simulate.ts";
const server = await openSqlServer();
const from = Number(process.argv[2] ?? 1), to = Number(process.argv[3] ?? from);
for (let seed = from; seed <= to; seed++) {
  const t = performance.now();
  const lines: string[] = [];
  const r = await simulate(seed, { open: server.open, trace: (l) => { lines.push(l); if (process.argv[4]) console.log(l); } });
  console.log(seed, ((performance.now() - t) / 1000).toFixed(1), r.jobs, r.events, lines.length, r.restedAtMs, JSON.stringify(r.violations.slice(0, 3)));
}
await server.close();
