import { useState } from "preact/hooks";
import { kindName } from "../../machine/closable-texts.ts";
import { placesIn } from "../../machine/wait-texts.ts";
import type { JobDetailReply } from "../../api/shape/job.ts";
import { addresses } from "../address.ts";
import { phaseLook } from "../jobs/phase.ts";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import { Button, Icon, JobLink, later, Link, Time, togglePause } from "../parts/index.ts";

const SignalForm = later(async () => (await import("./signal-form.tsx")).SignalForm);

interface WhyProps {
  readonly job: JobDetailReply;
  readonly zone: string | undefined;
  readonly onDone: () => void;
}

type Explanation = NonNullable<JobDetailReply["explanation"]>;

/** "Why is it waiting?" in words, with what can be done about it. */
export function Why({ job, zone, onDone }: WhyProps) {
  const { explanation: why } = job;
  const [isSignaling, setSignaling] = useState(false);
  const place = why === undefined ? null : placeOf(job, why);
  const paused = why === undefined ? null : pausedBy(job, why);
  const hints = (why?.pieces ?? []).flatMap(({ text }) => words.waitHints[text] ?? []);
  return (
    <div class="note" role="note">
      <Icon name="info" />
      <div>
        <p class="why">
          {why === undefined || !isKnown(why)
            ? (why?.sentence ?? words.job.itIs(phaseLook(job).text))
            : why.pieces.map((each) => <Piece key={each.text} of={each} zone={zone} />)}
        </p>
        {why === undefined || why.waitsFor.length === 0 ? null : (
          <p>
            {words.job.lookAt} {why.waitsFor.slice(0, 5).map((id) => [<JobLink id={id} />, " "])}
          </p>
        )}
        {hints.map((hint) => (
          <p key={hint} class="dim">
            {hint}
          </p>
        ))}
        {why?.cause === "signal" ? (
          <Button text={words.job.signal(job.task ?? "")} look="primary" onClick={() => setSignaling(true)} />
        ) : null}
        {isSignaling && job.run !== null && job.task !== null ? (
          <SignalForm {...job} run={job.run} task={job.task} onDone={onDone} onClose={() => setSignaling(false)} />
        ) : null}
        {paused === null ? null : (
          <Button
            text={words.pause.toggle(true, words.pause.named[paused.at](paused.id))}
            onClick={() => void togglePause(paused, onDone)}
          />
        )}
        {place === null ? null : (
          <p>
            <Link to={place.href} text={place.name} />
          </p>
        )}
      </div>
    </div>
  );
}

/** A newer API may have a piece that this page lacks: its sentence is shown then. */
const isKnown = ({ pieces }: Explanation): boolean =>
  pieces.length > 0 && pieces.every(({ text }) => Object.hasOwn(words.waits, text));

const times = new Set(["at", "until", "since", "latest"]);

/** A part of the sentence in the page's language; its times as the page writes them. */
const Piece = ({ of: { text, values }, zone }: { of: Explanation["pieces"][number]; zone: string | undefined }) => (
  <>
    {placesIn(words.waits[text]).map((part, index) => {
      if (index % 2 === 0) return part;
      const value = String(values[part] ?? "");
      if (times.has(part)) return <Time at={value} zone={zone} />;
      const [, more] = /^more than (\d+)$/.exec(value) ?? [];
      return more === undefined ? value : numberText({ count: Number(more), isMore: true });
    })}
  </>
);

/** What a click lets go on. */
function pausedBy({ kind, lane, schedule }: JobDetailReply, { cause, pieces }: Explanation) {
  const isOfKind = pieces.some(({ text }) => text === "kindPaused" || text === "kindBlackout");
  if (cause === "lane-paused" || cause === "blackout")
    return { at: "/lanes/:name", id: isOfKind ? kindName(kind) : lane, paused: true } as const;
  const isPaused = schedule !== null && pieces.some(({ text }) => text === "schedulePaused");
  return isPaused ? ({ at: "/schedules/:id", id: schedule, paused: true } as const) : null;
}

/** The page with more of it. */
function placeOf({ schedule }: JobDetailReply, { cause, pieces }: Explanation): { name: string; href: string } | null {
  if (cause === "paused" && schedule !== null) return { name: schedule, href: addresses.schedule(schedule) };
  if (cause === "lock") return { name: words.places.locks, href: addresses.locks };
  const run = String(pieces[0]?.values["run"] ?? "");
  if (cause === "rows" && run !== "") return { name: `${words.labels.run} #${run}`, href: addresses.run(run) };
  const isOfLane = ["lane-paused", "blackout", "no-worker", "slot", "queued"].includes(cause);
  return isOfLane ? { name: words.places.lanes, href: addresses.lanes } : null;
}
