import { addresses } from "../address.ts";
import { ErrorText, MiddleCut } from "../parts/index.ts";
import type { TaskReply } from "../../api/shape/run.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

export const causesShown = 5;
const tasksNamed = 3;

interface FailedListProps {
  /** The first of them. */
  readonly tasks: readonly TaskReply[];
  /** How many there are. */
  readonly failed: number;
}

/** The causes of a run's failures, the most frequent first, each with tasks that it stopped. */
export function FailedList({ tasks, failed }: FailedListProps) {
  if (tasks.length === 0) return null;
  const causes = causesOf(tasks);
  return (
    <section class="failed-list" aria-label={words.tasks.failedTasks}>
      <h2>
        {words.tasks.failed(failed)}
        {tasks.length < failed ? <span class="dim">{words.tasks.causesOf(tasks.length)}</span> : null}
      </h2>
      <ul>
        {causes.slice(0, causesShown).map(([cause, all]) => (
          <Cause key={cause} tasks={all} />
        ))}
      </ul>
      {causes.length > causesShown ? <p class="dim">{words.many.cause(causes.length - causesShown)}</p> : null}
    </section>
  );
}

function Cause({ tasks }: { readonly tasks: readonly TaskReply[] }) {
  const [first] = tasks;
  return (
    <li>
      <span class="strong">{numberText(tasks.length)} ×</span>
      <span class="one-line failed-cause" title={first?.error?.message ?? undefined}>
        <ErrorText code={first?.error?.code ?? words.shared.noCode} message={first?.error?.message} />
      </span>
      <span class="failed-names">
        {tasks.slice(0, tasksNamed).map((task) => (
          <a key={task.job} class="link" href={addresses.job(task.job)}>
            <MiddleCut text={task.task ?? task.key ?? `#${task.job}`} />
          </a>
        ))}
        {tasks.length > tasksNamed ? <span class="dim">{words.many.more(tasks.length - tasksNamed)}</span> : null}
      </span>
    </li>
  );
}

/** Tasks that failed alike, the most first. */
export const causesOf = (tasks: readonly TaskReply[]) =>
  [...Map.groupBy(tasks, causeOf)].toSorted(([, a], [, b]) => b.length - a.length);

/** Numbers and ids in a message do not make it another cause. */
const causeOf = ({ error }: TaskReply): string =>
  `${error?.code ?? ""} ${(error?.message ?? "").replaceAll(/[0-9a-f]*\d[0-9a-f-]*/gi, "#")}`;
