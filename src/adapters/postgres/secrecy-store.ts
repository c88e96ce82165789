import type { Secrecy } from "../../core/ports/secrecy.ts";
import { DatabaseUnfit } from "./failure.ts";
import type { Session } from "./session.ts";
import { readMarks, readStageKey, writeMarks } from "./sql/secrecy.ts";
import { columns } from "./statement.ts";

export const secrecyStore = (session: Session): Secrecy => ({
  async keepMarks(rows) {
    const values = columns(
      rows,
      (row) => row.kind,
      (row) => JSON.stringify(row.marks),
    );
    await session.run(writeMarks, values);
  },
  keptMarks: () => session.run(readMarks, []),
  async stageKey() {
    // The second look finds what another process drew at the same time.
    const [row] = [...(await session.run(readStageKey, [])), ...(await session.run(readStageKey, []))];
    if (row === undefined) throw new DatabaseUnfit("belfry.stage_key has no row and takes none");
    return row.key;
  },
});
