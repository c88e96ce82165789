import { Button, Card, ClockField, clockOf, clockTime, confirm, Form, say, sayFailed, Time } from "../parts/index.ts";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { currentTime } from "../clock.ts";
import { isoTime } from "../filter/range.ts";
import { ask } from "../http.ts";
import { myZone } from "../time.ts";
import type { BulkReply } from "../../api/shape/bulk.ts";
import type { BackfillPreviewReply, ScheduleReply } from "../../api/shape/schedule.ts";
import { words } from "../language/words.ts";

interface BackfillFormProps {
  readonly schedule: Pick<ScheduleReply, "id" | "timezone">;
  readonly onDone: () => void;
}

const dayMs = 86_400_000;

/** Runs past times that have not run. The preview shows what would happen to each before anything does. */
export function BackfillForm({ schedule, onDone }: BackfillFormProps) {
  const [range, setRange] = useState(() => ({ from: clockOf(currentTime() - dayMs), to: clockOf(currentTime()) }));
  const [preview, setPreview] = useState<BackfillPreviewReply | null>(null);
  const change = (part: Partial<typeof range>): void => {
    setRange({ ...range, ...part });
    setPreview(null);
  };
  const request = async <T extends object>(dryRun: boolean): Promise<T | null> => {
    try {
      const body = { from: isoTime(clockTime(range.from)), to: isoTime(clockTime(range.to)), dryRun };
      return (await ask("POST /schedules/:id/backfill", { id: schedule.id }, { body })) as T;
    } catch (error) {
      sayFailed(words.backfill.refused, error);
      return null;
    }
  };
  const run = async (times: number): Promise<void> => {
    if (!(await confirm({ text: words.backfill.text, action: words.backfill.action(times) }))) return;
    const begun = await request<BulkReply>(false);
    if (begun === null) return;
    say(words.backfill.planned(begun.matched.count), {
      text: words.shared.showJobs,
      href: addresses.jobsWith(`schedule:${schedule.id}`),
    });
    setPreview(null);
    onDone();
  };
  return (
    <Card title={words.backfill.title} about={words.backfill.inZone(myZone)}>
      <p class="form-lead">{words.backfill.about}</p>
      <Form look="form" onSend={() => void request<BackfillPreviewReply>(true).then(setPreview)}>
        <ClockField name={words.backfill.from} value={range.from} onWrite={(from) => change({ from })} />
        <ClockField name={words.backfill.to} value={range.to} onWrite={(to) => change({ to })} />
        <Button text={words.backfill.preview} />
      </Form>
      {preview === null ? null : (
        <Preview preview={preview} zone={schedule.timezone} onRun={(times) => void run(times)} />
      )}
    </Card>
  );
}

interface PreviewProps {
  readonly preview: BackfillPreviewReply;
  readonly zone: string;
  readonly onRun: (times: number) => void;
}

const shownMax = 8;

function Preview({ preview: { times }, zone, onRun }: PreviewProps) {
  const wanted = times.filter(({ runs }) => runs).length;
  return (
    <div class="preview" role="status">
      <ul>
        {times.slice(0, shownMax).map(({ nominalAt, runs, was }) => (
          <li key={nominalAt}>
            <Time at={nominalAt} zone={zone} />
            <span class={runs ? "" : "dim"}>{runs ? words.backfill.willRun(was) : words.backfill.stays(was)}</span>
          </li>
        ))}
      </ul>
      {times.length > shownMax ? <p class="dim">{words.many.moreTimes(times.length - shownMax)}</p> : null}
      {times.length === 0 ? <p class="dim">{words.backfill.none}</p> : null}
      {wanted === 0 ? null : (
        <Button text={words.backfill.action(wanted)} look="primary" onClick={() => onRun(wanted)} />
      )}
    </div>
  );
}
