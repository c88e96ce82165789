/**
 * What the server's vacuum needs beside the settings of each table, as a parameter group writes it: seconds between two looks at a
 * database, and how much it does between two naps of 2 ms. Postgres's own minute and 200 let the rows of a full minute lie around.
 */
export const vacuumSettings = { autovacuum_naptime: "5", autovacuum_vacuum_cost_limit: "2000" } as const;

/**
 * Each page that is written for the first time after a checkpoint goes to the WAL whole, which is most of it where keys are random:
 * so a checkpoint comes each 30 minutes, and not for WAL below a tenth of the disk. A crash then replays as much, for minutes.
 */
export const checkpointSettings = (storageGb: number) => ({
  checkpoint_timeout: "1800",
  max_wal_size: String(Math.min(8_192, Math.floor((storageGb * 1_024) / 10))),
});

const burstableGb: Readonly<Record<string, number>> = {
  nano: 0.5,
  micro: 1,
  small: 2,
  medium: 4,
  large: 8,
  xlarge: 16,
};
/**
 * AWS asks for 300 to 1,000 MiB beside everything else for sign-in by IAM, and on a burstable class for as much less of buffers:
 * https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/UsingWithRDS.IAMDBAuth.html
 */
const signInMb = 300;

/**
 * `shared_buffers` of a burstable class: the usual quarter of its memory without what sign-in needs. Null: another class, which
 * has that memory.
 * @returns MiB; none or less: the class is too small.
 */
export function buffersMb(instanceClass: string): number | null {
  const size = /^db\.t\w+\.(\w+)$/.exec(instanceClass)?.[1];
  const gb = size === undefined ? undefined : burstableGb[size];
  return gb === undefined ? null : gb * 256 - signInMb;
}
