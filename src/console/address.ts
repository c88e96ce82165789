/** Addresses inside the page. */
export const base = "/console";

/** Fields that say nothing are left out. */
function withFields(path: string, fields: Readonly<Record<string, string>>): string {
  const search = new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== "")).toString();
  return `${base}/${path}${search === "" ? "" : `?${search}`}`;
}

export const addresses = {
  overview: `${base}/`,
  jobs: `${base}/jobs`,
  job: (id: string) => `${base}/jobs/${id}`,
  /** The list with this filter in its bar. */
  jobsWith: (q: string) => withFields("jobs", { q }),
  schedules: `${base}/schedules`,
  schedulesWith: (q: string, sort = "id") => withFields("schedules", { q, sort: sort === "id" ? "" : sort }),
  schedule: (id: string) => `${base}/schedules/${encodeURIComponent(id)}`,
  scheduleAny: `${base}/schedules/:id`,
  upcoming: `${base}/upcoming`,
  kinds: `${base}/kinds`,
  kindsWith: (fields: Readonly<Record<string, string>>) => withFields("kinds", fields),
  runs: `${base}/runs`,
  run: (id: string) => `${base}/runs/${id}`,
  deadLetters: `${base}/dead-letters`,
  deadLettersOf: (ended: string) => withFields("dead-letters", { ended }),
  lanes: `${base}/lanes`,
  locks: `${base}/locks`,
  activity: `${base}/activity`,
  activityOf: (fields: Readonly<Record<string, string>>) => withFields("activity", fields),
} as const;
