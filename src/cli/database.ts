import type { Finding } from "./commands/doctor.ts";

/** What `doctor` says about the database; nothing to say without its address. */
export async function databaseFindings(url: string | undefined): Promise<readonly Finding[]> {
  void url;
  return [];
}
