import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { removePostgres } from "../../src/local/services/postgres-files.ts";

/** A fresh folder that goes with the test. Others may enter it, so that Postgres keeps its data inside. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "belfry-local-"));
  chmodSync(folder, 0o755);
  onTestFinished(() => {
    removePostgres(join(folder, "postgres"));
    rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}
