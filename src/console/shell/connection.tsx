import { aheadMs, now } from "../clock.ts";
import { connection, heardAt, rejectedSave } from "../live.ts";
import { Icon } from "../parts/index.ts";
import { durationText, relative } from "../time.ts";
import { words } from "../language/words.ts";

/** Whether what the page shows is fresh. */
export const ConnectionMark = () => (
  <span class={`connection ${connection.value}`} role="status">
    <i aria-hidden="true" />
    {words.shell.connection[connection.value]}
  </span>
);

/** Said across the whole page: nothing is worse than numbers that look alive and are not. */
export function StaleBanner() {
  if (connection.value !== "stale") return null;
  const heard = heardAt.value;
  // Reading the clock keeps the age in the sentence true.
  const age = heard === null ? null : relative(Math.min(0, heard - Math.max(Date.now(), now.value - 1_000)));
  return (
    <div class="line banner" role="alert">
      <Icon name="warning" size={14} />
      {age === null ? words.shell.neverHeard : words.shell.lastHeard(age)}
    </div>
  );
}

const skewMsMin = 30_000;

/** This machine's clock is wrong: the page goes by the system's, and other programs here do not. */
export function SkewBanner() {
  const ms = aheadMs.value;
  if (Math.abs(ms) < skewMsMin) return null;
  return (
    <div class="line banner" role="status">
      <Icon name="schedules" size={14} />
      {words.shell.skew(durationText(Math.abs(ms)), ms > 0)}
    </div>
  );
}

/** A save that cannot be used: where and why. The code before it runs on. */
export function SaveBanner() {
  const save = rejectedSave.value;
  if (save === null) return null;
  return (
    <div class="line banner" role="alert">
      <Icon name="warning" size={14} />
      <div>
        <p>{words.shell.rejectedSave(save.file)}</p>
        <pre class="error-text" lang="en">
          {save.problem}
        </pre>
      </div>
    </div>
  );
}
