import { boxOn, Card, Legend, LookBadge, Time } from "../parts/index.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { durationText } from "../time.ts";
import { AttemptFacts } from "./attempt-facts.tsx";
import type { Piece, Timeline, TimelineLine } from "./timeline.ts";
import { words } from "../language/words.ts";

interface WaterfallProps {
  readonly job: Pick<JobDetailReply, "id" | "trace">;
  readonly timeline: Timeline;
}

/** Each attempt with the wait before it and the pause behind it, on one scale of time. */
export const Waterfall = ({ job, timeline }: WaterfallProps) => (
  <Card
    title={words.labels.attempts}
    about={
      <Legend
        of={[
          ...(["wait", "run", "backoff"] as const).map((phase) => ({
            look: `swatch piece-${phase}`,
            text: words.attempts.phases[phase],
          })),
          { look: "swatch piece-run bad", text: words.attempts.failed },
        ]}
      />
    }
  >
    {timeline.lines.length === 0 ? (
      <p class="card-empty">{words.attempts.none}</p>
    ) : (
      <Lines job={job} timeline={timeline} />
    )}
  </Card>
);

const Lines = ({ job, timeline }: WaterfallProps) => (
  <div class="waterfall">
    <ol>
      {timeline.lines.map((each) => (
        <Line key={each.attempt} job={job} of={each} timeline={timeline} />
      ))}
    </ol>
    <p class="waterfall-scale">
      <Time at={new Date(timeline.from).toISOString()} />
      <span class="dim">{words.attempts.inAll(durationText(timeline.to - timeline.from))}</span>
      <Time at={new Date(timeline.to).toISOString()} />
    </p>
  </div>
);

function Line({ job, of, timeline }: WaterfallProps & { readonly of: TimelineLine }) {
  const spent = (wanted: Piece["phase"]): number =>
    of.pieces.filter(({ phase }) => phase === wanted).reduce((sum, { from, to }) => sum + to - from, 0);
  const [waited, ran] = [spent("wait"), spent("run")];
  const isBad = of.outcome === "FAILED" || of.outcome === "LOST";
  return (
    <li>
      <span class="waterfall-name">{words.attempts.attempt(of.attempt)}</span>
      <span class="waterfall-track">
        {of.pieces.map((piece) => (
          <i
            key={`${piece.from}${piece.phase}`}
            class={`piece piece-${piece.phase}${piece.phase === "run" && isBad ? " bad" : ""}`}
            style={boxOn(piece.from, piece.to, timeline)}
            title={`${words.attempts.phases[piece.phase]}: ${durationText(piece.to - piece.from)}`}
          />
        ))}
      </span>
      <span class="number">{ran > 0 ? durationText(ran) : <span class="nothing">–</span>}</span>
      <span class="line waterfall-end">
        <OutcomeBadge outcome={of.outcome} />
        {of.error === null ? null : <span class="mono dim">{of.error.code}</span>}
      </span>
      <AttemptFacts job={job} of={of} waited={waited} ran={ran} isNewest={of === timeline.lines.at(-1)} />
    </li>
  );
}

const outcomes = { ...words.states, ...words.attempts.outcomes };

const OutcomeBadge = ({ outcome }: Pick<TimelineLine, "outcome">) =>
  outcome === null ? (
    <span class="dim">{words.attempts.notStarted}</span>
  ) : (
    <LookBadge of={{ state: outcome, icon: outcome, text: outcomes[outcome] }} />
  );
