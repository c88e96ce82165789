import { Audits, Button, Card, Loaded, Older, Paused, ScreenHead } from "../parts/index.ts";
import { useLocation, useRoute } from "preact-iso";
import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { RangePicker } from "../filter/range-picker.tsx";
import { ApiError, ask } from "../http.ts";
import { useKeys } from "../keys.ts";
import { useAnswer, useResource } from "../resource.ts";
import { startScheduleOnce, toggleSchedule } from "../schedules/actions.tsx";
import { BackfillForm } from "../schedules/backfill-form.tsx";
import { HeatMap } from "../schedules/heat-map.tsx";
import { NextFires } from "../schedules/next-fires.tsx";
import { type OccurrenceReply, OccurrenceTable } from "../schedules/occurrence-table.tsx";
import { scheduleCrumbs } from "../schedules/crumbs.tsx";
import { plainWords } from "../schedules/plain-words.ts";
import { EndsText, latenessText, onTimeText, scheduleStatus } from "../schedules/status.tsx";
import { EditAndDelete } from "../schedules/edit-and-delete.tsx";
import { SquareLegend } from "../schedules/squares.tsx";
import { WhyTime } from "../schedules/why-time.tsx";
import type { ScheduleOutcomeReply } from "../../api/shape/schedule-outcome.ts";
import { durationText } from "../time.ts";
import { words } from "../language/words.ts";

export function ScheduleScreen() {
  const id = decodeURIComponent(useRoute().params["id"] ?? "");
  const schedule = useResource(`schedule ${id}`, (signal) => load(id, signal));
  return <Loaded of={schedule}>{(found) => <Found schedule={found} onDone={schedule.reload} />}</Loaded>;
}

/** With each of its newest and its next times. */
interface TimedOutcome extends ScheduleOutcomeReply {
  readonly times: NonNullable<ScheduleOutcomeReply["times"]>;
}

/** @throws ApiError 404 */
async function load(id: string, signal: AbortSignal): Promise<TimedOutcome> {
  const { schedules } = await ask("GET /schedule-outcomes", { id, include: "times", limit: 1 }, { signal });
  const [{ times, ...schedule } = {}] = schedules;
  if (times === undefined) throw new ApiError(404, "unknown-schedule", words.shared.noSchedule(id));
  return { ...(schedule as ScheduleOutcomeReply), times };
}

const policyText = ({ overlap, misfire }: ScheduleOutcomeReply): string =>
  `${words.schedules.overlap[overlap] ?? overlap} · ${words.schedules.misfire[misfire] ?? misfire}`;

/** What it promises of its times, and what is left of it. */
function ObjectiveLine({ of }: { readonly of: TimedOutcome["times"]["objective"] }) {
  if (of === null) return null;
  const burns = of.fast.burns || of.slow.burns;
  return <p class={burns ? "error-code" : "dim"}>{words.schedules.objective(of, durationText)}</p>;
}

function plannedText(occurrences: readonly OccurrenceReply[]): string {
  const planned = occurrences.filter(({ outcome }) => outcome === "PLANNED").length;
  return planned === 0 ? "" : words.schedules.plannedAhead(planned);
}

/** The times of a range, the newest first. */
function Chosen({ id, nominal }: { readonly id: string; readonly nominal: string }) {
  const { query, path, route } = useLocation();
  const { before = "" } = query;
  const asked = { id, cursor: before, limit: 100 };
  const found = useAnswer("GET /schedules/:id/occurrences", asked, { again: "slow", range: ["nominal", nominal] });
  return (
    <Loaded of={found}>
      {(page) => (
        <>
          <OccurrenceTable occurrences={page.occurrences} />
          <Older
            cursor={page.nextCursor}
            onOlder={(next) => route(`${path}?${new URLSearchParams({ nominal, before: next })}`)}
          />
        </>
      )}
    </Loaded>
  );
}

function Found({ schedule, onDone }: { readonly schedule: TimedOutcome; readonly onDone: () => void }) {
  const { id, kind, expression, timezone, paused } = schedule;
  const { query, path, route } = useLocation();
  const { nominal = "" } = query;
  const { occurrences, next } = schedule.times;
  const listOf = (range: string): string => `${path}?${new URLSearchParams({ nominal: range })}`;
  useKeys([
    { keys: "p", does: words.schedules.pauseKey, run: () => void toggleSchedule(schedule, onDone) },
    { keys: "n", does: words.shared.runNow, run: () => void startScheduleOnce(schedule) },
    { keys: "J", does: words.shared.showJobs, run: () => route(addresses.jobsWith(`schedule:${id}`)) },
  ]);
  return (
    <>
      <ScreenHead title={id} crumbs={scheduleCrumbs(id, null).slice(0, 1)}>
        {scheduleStatus(schedule, currentTime())}
        <span class="space" />
        {schedule.source === "api" ? <EditAndDelete schedule={schedule} onDone={onDone} /> : null}
        <a class="button" href={addresses.jobsWith(`schedule:${id}`)}>
          {words.shared.showJobs}
        </a>
        <Button
          text={paused ? words.shared.resume : words.shared.pause}
          onClick={() => void toggleSchedule(schedule, onDone)}
        />
        <Button text={words.shared.runNow} look="primary" onClick={() => void startScheduleOnce(schedule)} />
      </ScreenHead>
      <p class="lead">
        {plainWords(expression)} <span class="dim">{words.schedules.inZone(timezone)}</span>
      </p>
      <p class="dim">
        <span class="mono">{expression}</span>
        {words.schedules.starts(<strong>{kind}</strong>)} · {policyText(schedule)} ·{" "}
        {words.schedules.version(schedule.version, schedule.source)}
      </p>
      <p>
        {schedule.failingSince === null ? null : <span class="error-code">{words.schedules.states.failing} </span>}
        <EndsText {...schedule} />
        {schedule.onTimeShare === null ? null : (
          <span class="dim">{words.schedules.onTime(onTimeText(schedule), latenessText(schedule))}</span>
        )}
      </p>
      <ObjectiveLine of={schedule.times.objective} />
      <Paused of={schedule} zone={timezone} />
      <Card
        title={nominal === "" ? words.schedules.last30 : words.schedules.occurrences}
        label={words.schedules.occurrences}
        about={[
          <span class="dim">{plannedText(occurrences)}</span>,
          <RangePicker of="nominal" value={nominal} onRange={(value) => route(listOf(value))} />,
          <span class="space" />,
          <SquareLegend />,
        ]}
      >
        <HeatMap id={id} zone={timezone} listOf={listOf} />
        <WhyTime schedule={schedule} />
        {nominal === "" ? <OccurrenceTable occurrences={occurrences} /> : <Chosen {...{ id, nominal }} />}
      </Card>
      <div class="columns even">
        <NextFires times={next} schedule={schedule} />
        <BackfillForm schedule={schedule} onDone={onDone} />
      </div>
      <Audits target={`/schedules/${encodeURIComponent(id)}`} />
    </>
  );
}
