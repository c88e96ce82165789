import { addresses } from "../address.ts";
import { confirmAndChange } from "../bulk/bulk.ts";
import { loadFailureGroups } from "../client.ts";
import { Empty } from "../parts/empty.tsx";
import { Loaded } from "../parts/loaded.tsx";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import { useResource } from "../resource.ts";
import type { ShownFailureGroup } from "../shape.ts";
import { useTitle } from "../title.ts";
import { counted } from "../words.ts";

/** FAILED jobs that wait for a person, in groups that failed alike: what is mended once is run again together. */
export function DeadLettersScreen() {
  useTitle("Dead letters");
  const found = useResource("dead letters", loadFailureGroups);
  return (
    <>
      <header class="screen-head">
        <h1>Dead letters</h1>
        <span class="dim">Jobs that failed for good, in groups that failed alike</span>
      </header>
      <Loaded of={found}>
        {({ groups, isMore }) =>
          groups.length === 0 ? (
            <Empty title="Nothing waits for you">
              <p>A job that runs out of tries, or is refused for good, appears here until somebody retries it.</p>
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
  const href = addresses.jobsWith(`state:failed kind:${kind} fingerprint:${fingerprint}`);
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
            Newest
          </a>
          <button
            type="button"
            class="button small"
            aria-label={`Redrive ${counted(jobs)} of ${kind}, ${errorCode ?? "no code"}`}
            onClick={() => void confirmAndChange("retry", { filter }, onDone)}
          >
            Redrive
          </button>
        </span>
      </td>
    </tr>
  );
}
