/** A night of the fake API: what the Overview draws first. */
import type { NightReply } from "../../src/insight/night.ts";

type Row = NightReply["rows"][number];
type Bar = Row["bars"][number];

/** By the range that was asked for: `at` is how far through it, in percent. */
export function nightOf({ from = "", to = "", by = "schedule" }: Readonly<Record<string, string>>): NightReply {
  const [since, until] = [Date.parse(from), Date.parse(to)];
  const at = (percent: number): string => new Date(since + ((until - since) * percent) / 100).toISOString();
  const bar = (percent: number, wait: number, ran: number, over: Partial<Bar> = {}): Bar => ({
    job: "1",
    run: null,
    dueAt: at(percent),
    startedAt: at(percent + wait),
    endedAt: at(percent + wait + ran),
    result: "succeeded",
    reason: null,
    tries: [],
    ...over,
  });
  const row = (id: string, bars: readonly Bar[], over: Partial<Row> = {}): Row => ({
    id,
    pauses: [],
    bars: [...bars],
    cells: [],
    ...over,
  });
  const tried: Partial<Bar> = {
    result: "open",
    endedAt: null,
    startedAt: at(72),
    tries: [{ from: at(72), to: at(74) }],
  };
  const failed = { result: "failed", reason: "HTTP_503", job: "2" } as const;
  const cells = Array.from({ length: 40 }, (_, part) => ({
    from: at(part * 2.5),
    to: at(part * 2.5 + 2.5),
    succeeded: 20 + ((part * 37) % 90),
    failed: part % 9 === 4 ? 3 : 0,
    stopped: 0,
    open: 0,
    p50Ms: 900,
    p95Ms: 4_000,
  }));
  const rows = [
    row("nightly-export", [bar(10, 1, 8), bar(40, 2, 6, failed), bar(70, 2, 2, tried)]),
    row("settlement", [bar(22, 6, 20, { run: "7" }), bar(75, 1, 14, { run: "7", result: "open", endedAt: null })]),
    row(
      "sweep",
      Array.from({ length: 24 }, (_, n) => bar(n * 4, 0.2, 0.6)),
      {
        pauses: [{ from: at(50), to: at(62), reason: "deploy" }],
      },
    ),
    row("price-import", [bar(30, 0, 0, { result: "stopped", reason: "overlap", job: null, startedAt: null })]),
  ];
  const many = [row(by === "kind" ? "send-open-mail" : "mail", [], { cells })];
  return { from, to, by: by as NightReply["by"], rows: by === "schedule" ? rows : many, isMore: false };
}
