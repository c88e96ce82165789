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
    const [row] = await session.run(readStageKey, []);
    if (row === undefined)
      throw new DatabaseUnfit("belfry.stage_key has no row: put back the one that it was made with");
    return row.key;
  },
});
