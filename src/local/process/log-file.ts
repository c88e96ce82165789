import { createWriteStream, renameSync, statSync, type WriteStream, statfsSync } from "node:fs";
import { dirname } from "node:path";

const bytesMax = 10 * 1024 * 1024;
const againMs = 2_000;

/**
 * The log of one kind of process. Lines that cannot be written are dropped, which is said once; the file is tried again after
 * a pause, so that it goes on when there is space.
 */
export class LogFile {
  readonly #file: string;
  readonly #onProblem: (problem: string) => void;
  #stream: WriteStream | null;
  #againAtMs = 0;
  #isFailing = false;

  constructor(file: string, onProblem: (problem: string) => void) {
    this.#file = file;
    this.#onProblem = onProblem;
    this.#stream = this.#open();
  }

  write(line: string): void {
    if (this.#stream === null && performance.now() >= this.#againAtMs) this.#stream = this.#open();
    this.#stream?.write(`${line}\n`, (error) => {
      if (!error) this.#isFailing = false;
    });
  }

  end(): void {
    this.#stream?.end();
    this.#stream = null;
    this.#againAtMs = Number.POSITIVE_INFINITY;
  }

  /** Goes on where the last run ended; a file that has grown large is put aside first. */
  #open(): WriteStream {
    const size = statSync(this.#file, { throwIfNoEntry: false })?.size ?? 0;
    if (size > bytesMax) renameSync(this.#file, `${this.#file}.old`);
    const stream = createWriteStream(this.#file, { flags: "a" });
    stream.on("error", (error) => {
      if (this.#stream === stream) this.#stream = null;
      if (Number.isFinite(this.#againAtMs)) this.#againAtMs = performance.now() + againMs;
      if (this.#isFailing) return;
      this.#isFailing = true;
      const where = freeSpaceOf(dirname(this.#file));
      this.#onProblem(
        `${this.#file} cannot be written (${error.message}; ${where}): its lines are dropped until it can`,
      );
    });
    return stream;
  }
}

/** For a sentence: `12 MB free in /home/ada/project/.belfry`. */
export function freeSpaceOf(folder: string): string {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return `${Math.floor((bavail * bsize) / (1024 * 1024))} MB free in ${folder}`;
  } catch {
    return `nothing known about ${folder}`;
  }
}

/** Whether the disk was full, in whichever process that was noticed. */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof Error && /ENOSPC|EDQUOT|No space left on device|\b53100\b/.test(error.message);
