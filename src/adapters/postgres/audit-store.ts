import type { Operations } from "../../core/ports/operations.ts";
import { operationsLimits } from "../../core/ports/operations-limits.ts";
import type { Session } from "./session.ts";
import { readAudits, writeAudits } from "./sql/audit.ts";
import { columns } from "./statement.ts";

export function auditStore(session: Session): Pick<Operations, "note" | "audits"> {
  return {
    async note(rows) {
      const values = columns(
        rows,
        (row) => row.caller,
        (row) => row.action,
        (row) => row.target,
        (row) => row.status,
        (row) => row.detail,
        (row) => row.trace,
      );
      await session.run(writeAudits, values);
    },
    audits: ({ before, limit, target }) =>
      session.run(readAudits, [before, limit, target ?? null, operationsLimits.auditsSearchedMax]),
  };
}
