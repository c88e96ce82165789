import { AuditTable, Button, Loaded, Named, ScreenHead, Time } from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { useAnswer } from "../resource.ts";
import { words } from "../language/words.ts";

/** What people and deployments changed, the newest first: of a person, of an object, or before a time. */
export function ActivityScreen() {
  const { query, route } = useLocation();
  const { caller = "", target = "", createdTo = "", before = "" } = query;
  const asked = { caller, target, createdTo, cursor: before, limit: 50 };
  const found = useAnswer("GET /audits", asked, { again: "slow" });
  const go = (fields: Readonly<Record<string, string>>): void =>
    route(addresses.activityOf({ caller, target, createdTo, ...fields }));
  return (
    <>
      <ScreenHead title={words.places.activity}>
        <Named name={words.audits.columns.who} value={caller} onName={(value) => go({ caller: value })} />
        <Named name={words.audits.object} value={target} onName={(value) => go({ target: value })} />
        {createdTo === "" ? null : (
          <>
            <span>{words.audits.before(<Time at={createdTo} />)}</span>
            <Button text={words.audits.untilNow} look="small" onClick={() => go({ createdTo: "" })} />
          </>
        )}
      </ScreenHead>
      <Loaded of={found}>
        {({ audits, nextCursor }) => (
          <>
            <div class="card">
              <AuditTable audits={audits} />
            </div>
            {nextCursor === null ? null : (
              <Button text={words.audits.older} onClick={() => go({ before: nextCursor })} />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
