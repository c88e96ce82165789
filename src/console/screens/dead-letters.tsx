import {
  Audits,
  Button,
  type Column,
  column,
  DataTable,
  Empty,
  JobLink,
  Link,
  Loaded,
  ScreenHead,
  Time,
} from "../parts/index.ts";
import { addresses } from "../address.ts";
import { useLocation } from "preact-iso";
import { useEffect, useState } from "preact/hooks";
import { sawTroubles } from "../overview/standing.ts";
import { confirmAndRedrive } from "../bulk/redrive.ts";
import type { FailureGroup } from "../../insight/failure-groups.ts";
import { currentTime } from "../clock.ts";
import { rangeFields, writtenEdges } from "../filter/range.ts";
import { RangePicker } from "../filter/range-picker.tsx";
import { quote, withTerm } from "../filter/terms.ts";
import { useAnswer } from "../resource.ts";
import { words } from "../language/words.ts";

/** FAILED jobs in groups that failed alike: one fixed cause, one retry. */
export function DeadLettersScreen() {
  const { query, route } = useLocation();
  const { ended = "" } = query;
  const found = useAnswer("GET /dead-letters", {}, { range: ["ended", ended] });
  useEffect(() => {
    if (found.data === null || ended !== "") return;
    sawTroubles({ [addresses.deadLetters]: { count: sumOf(found.data.groups), isMore: found.data.isMore } });
  }, [found.data, ended]);
  return (
    <>
      <ScreenHead title={words.places.deadLetters}>
        <span class="dim">{words.deadLetters.about}</span>
        <span class="space" />
        <RangePicker of="ended" value={ended} onRange={(value) => route(addresses.deadLettersOf(value))} />
      </ScreenHead>
      <Loaded of={found}>
        {({ groups, isMore }) =>
          groups.length === 0 ? (
            <Empty
              title={ended === "" ? words.deadLetters.none : words.deadLetters.noneThen}
              text={words.deadLetters.whatAppears}
            />
          ) : (
            <>
              <GroupTable groups={groups} ended={ended} onDone={found.reload} />
              {isMore ? <p class="dim">{words.deadLetters.isMore}</p> : null}
            </>
          )
        }
      </Loaded>
      <Audits target="/dead-letters,/bulk" />
    </>
  );
}

const sumOf = (groups: readonly FailureGroup[]): number => groups.reduce((sum, { jobs }) => sum + jobs, 0);
const names = { ...words.labels, ...words.deadLetters };
const idOf = ({ kind, fingerprint }: FailureGroup): string => `${kind} ${fingerprint}`;

interface GroupTableProps {
  readonly groups: readonly FailureGroup[];
  /** Only what ended then is shown, listed and retried. */
  readonly ended: string;
  readonly onDone: () => void;
}

function GroupTable({ groups, ended, onDone }: GroupTableProps) {
  const [marked, setMarked] = useState<ReadonlySet<string>>(new Set());
  const chosen = groups.filter((group) => marked.has(idOf(group)));
  const toggle = (group: FailureGroup): void => {
    const others = new Set(marked);
    if (!others.delete(idOf(group))) others.add(idOf(group));
    setMarked(others);
  };
  const redrive = (of: readonly FailureGroup[]): void =>
    void confirmAndRedrive(of, rangeFields("ended", writtenEdges("ended", ended, currentTime())) ?? {}, onDone);
  const all = (): void => setMarked(new Set(chosen.length === groups.length ? [] : groups.map(idOf)));
  const columns: readonly Column<FailureGroup>[] = [
    {
      name: words.jobs.columns.marked,
      isHidden: true,
      cell: (group) => (
        <input
          type="checkbox"
          aria-label={words.redrive.mark(group.kind, codeOf(group))}
          checked={marked.has(idOf(group))}
          onChange={() => toggle(group)}
        />
      ),
    },
    column.number(words.places.jobs, "jobs", { class: "strong" }),
    column.link(names.kind, "kind", ({ kind, fingerprint }) =>
      addresses.jobsWith(
        withTerm(`state:failed kind:${quote(kind)} fingerprint:${fingerprint}`, "ended", ended === "" ? null : ended),
      ),
    ),
    { name: names.error, class: "broad wide", cell: (group) => <Cause of={group} /> },
    column.time(names.first, "firstAt"),
    column.time(names.last, "lastAt"),
    column.actions((group) => (
      <Button
        text={names.retry(group.jobs)}
        look="small"
        onClick={() => redrive([group])}
        label={names.retryOf(group.jobs, group.kind, codeOf(group))}
      />
    )),
  ];
  return (
    <div class="card">
      <div class="line bulk" role="toolbar" aria-label={words.places.deadLetters}>
        <label class="check-line">
          <input type="checkbox" checked={chosen.length === groups.length} onChange={all} />
          <span>{words.redrive.markAll}</span>
        </label>
        {chosen.length === 0 ? null : (
          <>
            <span class="dim">{words.redrive.groups(chosen.length)}</span>
            <Button text={words.bulk.action("retry", sumOf(chosen))} look="small" onClick={() => redrive(chosen)} />
          </>
        )}
      </div>
      <DataTable label={words.places.deadLetters} look="tall stacks" columns={columns} rows={groups} idOf={idOf} />
    </div>
  );
}

const codeOf = ({ errorCode }: FailureGroup): string => errorCode ?? words.shared.noCode;

const Cause = ({ of }: { readonly of: FailureGroup }) => (
  <>
    <span class="mono error-code">{codeOf(of)}</span>
    <p class="dim clamp" title={of.errorMessage ?? undefined}>
      {of.errorMessage}
    </p>
    <details class="samples">
      <summary class="dim small">{words.redrive.samples(of.samples.length)}</summary>
      <ul>
        {of.samples.map(({ job, at, message }) => (
          <li key={job}>
            <JobLink id={job} /> <Time at={at} /> <span class="dim">{message}</span>
          </li>
        ))}
      </ul>
      <Link to={addresses.activityOf({ created: `..${of.firstAt}` })} text={words.audits.changesBefore} />
    </details>
  </>
);
