import { addresses } from "../address.ts";
import { confirmAndChange } from "../bulk/bulk.ts";
import { loadFailureGroups } from "../client.ts";
import { quoted } from "../filter/terms.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import type { ShownFailureGroup } from "../shape.ts";
import { useTitle } from "../title.ts";
import { counted } from "../words.ts";

/** FAILED jobs in groups that failed alike: one fixed cause, one retry. */
export function DeadLettersScreen() {
  useTitle("Dead letters");
  const found = useResource("dead letters", (signal) => loadFailureGroups(null, signal));
  return (
    <>
      <header class="screen-head">
        <h1>Dead letters</h1>
        <span class="dim">Jobs that failed for good, in groups that failed alike</span>
      </header>
      <Loaded of={found}>
        {({ groups, isMore }) =>
          groups.length === 0 ? (
            <Empty title="No dead letters">
              <p>A job that runs out of attempts, or is refused for good, appears here until it is retried.</p>
            </Empty>
          ) : (
            <>
              <GroupTable groups={groups} onDone={found.reload} />
              {isMore ? <p class="dim">There are more; these are the largest groups among the newest.</p> : null}
            </>
          )
        }
      </Loaded>
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
          { name: "Jobs", isNumber: true },
          "Kind",
          "Error",
          "First",
          "Last",
          { name: "Actions", isHidden: true },
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
        <span class="mono error-code">{errorCode ?? "no code"}</span>
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
            Newest job
          </a>
          <button
            type="button"
            class="button small"
            aria-label={`Retry ${counted(jobs)} of ${kind}, ${errorCode ?? "no code"}`}
            onClick={() => void confirmAndChange("retry", { filter, text }, onDone)}
          >
            Retry {counted(jobs)}
          </button>
        </span>
      </td>
    </tr>
  );
}
