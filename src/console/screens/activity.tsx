import { AuditTable, Loaded, Named, Older, ScreenHead } from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { RangePicker } from "../filter/range-picker.tsx";
import { useAnswer } from "../resource.ts";
import { words } from "../language/words.ts";

/** What people and deployments changed, the newest first: of a person, of an object, or before a time. */
export function ActivityScreen() {
  const { query, route } = useLocation();
  const { caller = "", target = "", created = "", before = "" } = query;
  const asked = { caller, target, cursor: before, limit: 50 };
  const found = useAnswer("GET /audits", asked, { again: "slow", range: ["created", created] });
  const go = (fields: Readonly<Record<string, string>>): void =>
    route(addresses.activityOf({ caller, target, created, ...fields }));
  return (
    <>
      <ScreenHead title={words.places.activity}>
        <Named name={words.audits.columns.who} value={caller} onName={(value) => go({ caller: value })} />
        <Named name={words.audits.object} value={target} onName={(value) => go({ target: value })} />
        <RangePicker of="at" value={created} onRange={(value) => go({ created: value })} />
      </ScreenHead>
      <Loaded of={found}>
        {({ audits, nextCursor }) => (
          <>
            <div class="card">
              <AuditTable audits={audits} />
            </div>
            <Older cursor={nextCursor} onOlder={(next) => go({ before: next })} />
          </>
        )}
      </Loaded>
    </>
  );
}
