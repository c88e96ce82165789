import { addresses } from "../address.ts";
import { ScrollTable } from "../parts/scroll-table.tsx";
import { currentTime } from "../clock.ts";
import { Time } from "../parts/time.tsx";
import { TableHead } from "../parts/table-head.tsx";
import type { ShownOccurrence } from "../shape.ts";
import { duration } from "../time.ts";
import { reasonText } from "../words.ts";
import { outcomeWords, squareClass } from "./squares.tsx";

/** Every nominal time has one row, with its decision. Those that are planned and still to come are among the next times. */
export function OccurrenceTable({ occurrences }: { readonly occurrences: readonly ShownOccurrence[] }) {
  const past = occurrences.filter(
    ({ outcome, nominalAt }) => outcome !== "PLANNED" || Date.parse(nominalAt) <= currentTime(),
  );
  return past.length === 0 ? (
    <p class="card-empty">None has come yet: what becomes of each time is written here</p>
  ) : (
    <ScrollTable label="Past times">
      <table class="table">
        <TableHead columns={["For", "Outcome", "Why", { name: "Lateness", isNumber: true }, "Job"]} />
        <tbody>
          {past.map((each) => (
            <tr key={`${each.localTime}${each.fold}${each.timezone}`}>
              <td>
                <Time at={each.nominalAt} zone={each.timezone} />
              </td>
              <td>
                <span class="state">
                  <i class={squareClass(each)} />
                  {outcomeWords[each.outcome]}
                </span>
              </td>
              <td class="dim">{reasonText(each.reason)}</td>
              <td class="number">
                {each.latenessMs === null ? <span class="nothing">–</span> : duration(each.latenessMs)}
              </td>
              <td>
                {each.jobId === null ? (
                  <span class="nothing">–</span>
                ) : (
                  <a class="link" href={addresses.job(each.jobId)}>
                    {`#${each.jobId}`}
                  </a>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollTable>
  );
}
