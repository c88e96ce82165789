import { addresses } from "../address.ts";
import { confirmAndChange } from "../bulk/bulk.ts";
import { loadFailureGroups } from "../client.ts";
import { quoted } from "../filter/terms.ts";
import { Empty } from "../parts/empty.tsx";
import { Audits } from "../parts/audits.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import type { ShownFailureGroup } from "../shape.ts";
import { useTitle } from "../title.ts";
import { words } from "../language/words.ts";
import { counted } from "../language/number.ts";

/** FAILED jobs in groups that failed alike: one fixed cause, one retry. */
export function DeadLettersScreen() {
  useTitle(words.deadLetters.title);
  const found = useResource("dead-letters", (signal) => loadFailureGroups(null, signal));
  return (
    <>
      <header class="screen-head">
        <h1>{words.deadLetters.title}</h1>
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

const GroupTable = ({
  groups,
  onDone,
}: {
  readonly groups: readonly ShownFailureGroup[];
  readonly onDone: () => void;
}) => (
  <div class="card">
    <table class="table tall">
      <TableHead
        columns={[
          { name: words.deadLetters.jobs, isNumber: true },
          words.deadLetters.kind,
          words.deadLetters.error,
          words.deadLetters.first,
          words.deadLetters.last,
          { name: words.shared.actions, isHidden: true },
        ]}
      />
      <tbody>
        {groups.map((group) => (
          <Group key={`${group.kind} ${group.fingerprint}`} group={group} onDone={onDone} />
        ))}
      </tbody>
    </table>
  </div>
);

function Group({ group, onDone }: { readonly group: ShownFailureGroup; readonly onDone: () => void }) {
  const { kind, fingerprint, jobs, errorCode, errorMessage, firstAt, lastAt, newest } = group;
  const filter = { state: "FAILED", kind, fingerprint };
  const text = `state:failed kind:${quoted(kind)} fingerprint:${fingerprint}`;
  const href = addresses.jobsWith(text);
  return (
    <tr>
      <td class="number strong">{counted(jobs)}</td>
      <td>
        <a class="row-link" href={href}>
          {kind}
        </a>
      </td>
      <td class="error-cell">
        <span class="mono error-code">{errorCode ?? words.shared.noCode}</span>
        <p class="dim clamp" title={errorMessage ?? undefined}>
          {errorMessage}
        </p>
      </td>
      <td>
        <Time at={firstAt} />
      </td>
      <td>
        <Time at={lastAt} />
      </td>
      <td>
        <span class="actions">
          <a class="button small" href={addresses.job(newest)}>
            {words.deadLetters.newest}
          </a>
          <button
            type="button"
            class="button small"
            aria-label={words.deadLetters.retryOf(jobs, kind, errorCode ?? words.shared.noCode)}
            onClick={() => void confirmAndChange("retry", { filter, text }, onDone)}
          >
            {words.deadLetters.retry(jobs)}
          </button>
        </span>
      </td>
    </tr>
  );
}
