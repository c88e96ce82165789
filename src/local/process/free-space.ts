import { statfsSync } from "node:fs";

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
