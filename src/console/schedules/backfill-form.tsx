import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { previewBackfill, requestBackfill, type ShownBackfill } from "../client.ts";
import { currentTime } from "../clock.ts";
import { Time } from "../parts/time.tsx";
import { confirmed } from "../parts/confirm.tsx";
import { say, sayFailed } from "../parts/toast.tsx";
import type { ShownSchedule } from "../shape.ts";
import { plural } from "../words.ts";

interface BackfillFormProps {
  readonly schedule: Pick<ShownSchedule, "id" | "timezone">;
  readonly onDone: () => void;
}

type Request<T> = (id: string, range: { from: string; to: string }) => Promise<T>;

const hourMs = 3_600_000;

/** Runs past times that have not run. The preview shows what would happen to each before anything does. */
export function BackfillForm({ schedule, onDone }: BackfillFormProps) {
  const [range, setRange] = useState(() => ({ from: field(currentTime() - hourMs), to: field(currentTime()) }));
  const [preview, setPreview] = useState<ShownBackfill | null>(null);
  const change = (part: Partial<typeof range>): void => {
    setRange({ ...range, ...part });
    setPreview(null);
  };
  const ask = async <T,>(request: Request<T>): Promise<T | null> => {
    try {
      return await request(schedule.id, { from: instant(range.from), to: instant(range.to) });
    } catch (error) {
      sayFailed("The backfill was refused", error);
      return null;
    }
  };
  const run = async (times: number): Promise<void> => {
    const what = plural(times, "time");
    const text = `They run one after the other, beside the times that come on their own.`;
    if (!(await confirmed({ title: `Backfill ${what}?`, text, action: `Backfill ${what}` }))) return;
    const begun = await ask(requestBackfill);
    if (begun === null) return;
    say(`${plural(begun.matched.count, "time")} planned`, {
      text: "Show jobs",
      href: addresses.jobsWith(`schedule:${schedule.id}`),
    });
    setPreview(null);
    onDone();
  };
  return (
    <section class="card" aria-label="Backfill">
      <header class="card-head">
        <h2>Backfill</h2>
        <span class="dim">times in UTC</span>
      </header>
      <p class="form-lead">Runs the times of a range that have not run. The preview shows each and changes nothing.</p>
      <form
        class="form"
        onSubmit={(event) => {
          event.preventDefault();
          void ask(previewBackfill).then(setPreview);
        }}
      >
        <label>
          From
          <input
            class="field"
            type="datetime-local"
            value={range.from}
            onInput={(e) => change({ from: e.currentTarget.value })}
          />
        </label>
        <label>
          To
          <input
            class="field"
            type="datetime-local"
            value={range.to}
            onInput={(e) => change({ to: e.currentTarget.value })}
          />
        </label>
        <button type="submit" class="button">
          Preview
        </button>
      </form>
      {preview === null ? null : (
        <Preview preview={preview} zone={schedule.timezone} onRun={(times) => void run(times)} />
      )}
    </section>
  );
}

interface PreviewProps {
  readonly preview: ShownBackfill;
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
            <span class={runs ? "" : "dim"}>{runs ? `will run, was ${was}` : `stays ${was}`}</span>
          </li>
        ))}
      </ul>
      {times.length > shownMax ? (
        <p class="dim">{`and ${plural(times.length - shownMax, "more time", "more times")}`}</p>
      ) : null}
      {times.length === 0 ? <p class="dim">No time of this schedule lies in this range</p> : null}
      {wanted === 0 ? null : (
        <button type="button" class="button primary" onClick={() => onRun(wanted)}>
          {`Backfill ${plural(wanted, "time")}`}
        </button>
      )}
    </div>
  );
}

/** `datetime-local` knows no zone: the page says UTC beside it. */
const field = (at: number): string => new Date(at).toISOString().slice(0, 16);
const instant = (value: string): string => `${value}:00.000Z`;
