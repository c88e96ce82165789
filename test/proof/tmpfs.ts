import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A small disk of its own, which a case may fill. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes what space there is, again and again, until `free`. */
  fill(): void;
  free(): void;
  remove(): void;
}

const refillMs = 50;

/** @returns null where this user may not mount one, with the reason given to `why`. */
export function mountSmallDisk(megabytes: number, why: (reason: string) => void): SmallDisk | null {
  const folder = mkdtempSync(join(tmpdir(), "belfry-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m,mode=755`, "tmpfs", folder], { stdio: "pipe" });
  } catch (error) {
    rmdirSync(folder);
    why(
      `a disk of ${megabytes} MB cannot be mounted: ${error instanceof Error ? error.message.trim() : String(error)}`,
    );
    return null;
  }
  chmodSync(folder, 0o755);
  const filler = join(folder, "filler");
  let timer: NodeJS.Timeout | undefined;
  return {
    folder,
    fill() {
      take(filler);
      timer = setInterval(() => take(filler), refillMs);
    },
    free() {
      clearInterval(timer);
      rmSync(filler, { force: true });
    },
    remove() {
      clearInterval(timer);
      // Lazily: what still has a file open there is ended by the caller.
      execFileSync("umount", ["--lazy", folder]);
      rmdirSync(folder);
    },
  };
}

const pieces = [1024 * 1024, 4096].map((bytes) => Buffer.alloc(bytes));

/** Large pieces first, then what is left in pages. */
function take(file: string): void {
  const handle = openSync(file, "a");
  for (const piece of pieces) {
    try {
      while (writeSync(handle, piece) === piece.length);
    } catch {
      // This size does not fit any more.
    }
  }
  closeSync(handle);
}
