import { useState } from "preact/hooks";
import { type Audit, loadAudits } from "../client.ts";
import { words } from "../language/words.ts";
import { useResource } from "../resource.ts";
import { Loaded } from "./loaded.tsx";
import { ScrollTable } from "./scroll-table.tsx";
import { TableHead } from "./table-head.tsx";
import { Time } from "./time.tsx";

/** Who changed an object through the API, asked for when it is opened. `target` is its path in the API. */
export function Audits({ target }: { readonly target: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="card audits" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{words.audits.title}</summary>
      {isOpen ? <Found target={target} /> : null}
    </details>
  );
}

const names = { ...words.labels, ...words.audits.columns };

function Found({ target }: { readonly target: string }) {
  const found = useResource(`audits ${target}`, (signal) => loadAudits(target, signal), { again: "slow" });
  return (
    <Loaded of={found}>
      {(audits) =>
        audits.length === 0 ? (
          <p class="card-empty">{words.audits.none}</p>
        ) : (
          <ScrollTable label={words.audits.title}>
            <table class="table">
              <TableHead columns={[names.at, names.who, names.what, names.answer, names.sent]} />
              <tbody>
                {audits.map((audit) => (
                  <Row key={audit.id} audit={audit} />
                ))}
              </tbody>
            </table>
          </ScrollTable>
        )
      }
    </Loaded>
  );
}

const Row = ({ audit: { at, caller, action, target, status, detail } }: { readonly audit: Audit }) => (
  <tr>
    <td>
      <Time at={at} />
    </td>
    <td>{caller}</td>
    <td class="mono" title={target}>
      {`${action.split(" ")[0] ?? ""} ${target}`}
    </td>
    <td class={status < 400 ? "" : "error-code"}>{status}</td>
    <td class="mono dim cut" title={JSON.stringify(detail)}>
      {JSON.stringify(detail)}
    </td>
  </tr>
);
