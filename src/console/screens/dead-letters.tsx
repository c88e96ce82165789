import { addresses } from "../address.ts";
import { useState } from "preact/hooks";
import { confirmAndRedrive } from "../bulk/redrive.ts";
import { type FailureGroupReply, loadFailureGroups } from "../client.ts";
import { quote } from "../filter/terms.ts";
import { Empty } from "../parts/empty.tsx";
import { Audits } from "../parts/audits.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import { useTitle } from "../title.ts";
import { words } from "../language/words.ts";
import { numberText } from "../language/number.ts";

/** FAILED jobs in groups that failed alike: one fixed cause, one retry. */
export function DeadLettersScreen() {
  useTitle(words.places.deadLetters);
  const found = useResource("dead-letters", (signal) => loadFailureGroups(null, signal));
  return (
    <>
      <header class="screen-head">
        <h1>{words.places.deadLetters}</h1>
        <span class="dim">{words.deadLetters.about}</span>
      </header>
      <Loaded of={found}>
        {({ groups, isMore }) =>
          groups.length === 0 ? (
            <Empty title={words.deadLetters.none}>
              <p>{words.deadLetters.whatAppears}</p>
            </Empty>
          ) : (
            <>
              <GroupTable groups={groups} onDone={found.reload} />
              {isMore ? <p class="dim">{words.deadLetters.isMore}</p> : null}
            </>
          )
        }
      </Loaded>
      <Audits target="/bulk" />
    </>
  );
}

interface GroupTableProps {
  readonly groups: readonly FailureGroupReply[];
  readonly onDone: () => void;
}

const names = { ...words.labels, ...words.deadLetters };
const idOf = ({ kind, fingerprint }: FailureGroupReply): string => `${kind} ${fingerprint}`;

function GroupTable({ groups, onDone }: GroupTableProps) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const chosen = groups.filter((group) => marked.has(idOf(group)));
  const toggle = (group: FailureGroupReply): void => {
    const others = new Set(marked);
    if (!others.delete(idOf(group))) others.add(idOf(group));
    setMarked(others);
  };
  const all = (): void => setMarked(new Set(chosen.length === groups.length ? [] : groups.map(idOf)));
  return (
    <div class="card">
      <div class="bulk" role="toolbar" aria-label={words.places.deadLetters}>
        <label class="check-line">
          <input type="checkbox" checked={chosen.length === groups.length} onChange={all} />
          <span>{words.redrive.markAll}</span>
        </label>
        <span class="dim">{words.redrive.groups(chosen.length)}</span>
        {chosen.length === 0 ? null : (
          <button type="button" class="button small" onClick={() => void confirmAndRedrive(chosen, onDone)}>
            {words.redrive.action(chosen.reduce((sum, { jobs }) => sum + jobs, 0))}
          </button>
        )}
      </div>
      <table class="table tall stacks">
        <TableHead
          columns={[
            { name: words.jobs.columns.marked, isHidden: true },
            { name: names.jobs, isNumber: true },
            names.kind,
            names.error,
            names.first,
            names.last,
            { name: words.shared.actions, isHidden: true },
          ]}
        />
        <tbody>
          {groups.map((group) => (
            <Group
              key={idOf(group)}
              group={group}
              isMarked={marked.has(idOf(group))}
              onMark={() => toggle(group)}
              onDone={onDone}
            />
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface GroupProps {
  readonly group: FailureGroupReply;
  readonly isMarked: boolean;
  readonly onMark: () => void;
  readonly onDone: () => void;
}

function Group({ group, isMarked, onMark, onDone }: GroupProps) {
  const { kind, fingerprint, jobs, errorCode, errorMessage, firstAt, lastAt, samples } = group;
  const code = errorCode ?? words.shared.noCode;
  return (
    <tr>
      <td>
        <input type="checkbox" aria-label={words.redrive.mark(kind, code)} checked={isMarked} onChange={onMark} />
      </td>
      <td class="number strong" data-label={names.jobs}>
        {numberText(jobs)}
      </td>
      <td>
        <a class="row-link" href={addresses.jobsWith(`state:failed kind:${quote(kind)} fingerprint:${fingerprint}`)}>
          {kind}
        </a>
      </td>
      <td class="error-cell wide">
        <span class="mono error-code">{code}</span>
        <p class="dim clamp" title={errorMessage ?? undefined}>
          {errorMessage}
        </p>
        <details class="samples">
          <summary class="dim small">{words.redrive.samples(samples.length)}</summary>
          <ul>
            {samples.map(({ job, at, message }) => (
              <li key={job}>
                <a class="link" href={addresses.job(job)}>
                  {`#${job}`}
                </a>{" "}
                <Time at={at} /> <span class="dim">{message}</span>
              </li>
            ))}
          </ul>
        </details>
      </td>
      <td data-label={names.first}>
        <Time at={firstAt} />
      </td>
      <td data-label={names.last}>
        <Time at={lastAt} />
      </td>
      <td>
        <span class="actions">
          <button
            type="button"
            class="button small"
            aria-label={names.retryOf(jobs, kind, code)}
            onClick={() => void confirmAndRedrive([group], onDone)}
          >
            {names.retry(jobs)}
          </button>
        </span>
      </td>
    </tr>
  );
}
