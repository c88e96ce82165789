/** Addresses inside the page. */
export const base = "/console";

export const addresses = {
  overview: `${base}/`,
  jobs: `${base}/jobs`,
  job: (id: string) => `${base}/jobs/${id}`,
  /** The list with this filter in its bar. */
  jobsWith: (filter: string) => `${base}/jobs?q=${encodeURIComponent(filter)}`,
  schedules: `${base}/schedules`,
  schedulesWith: (filter: string, sort = "id") => {
    const search = new URLSearchParams({
      ...(filter === "" ? {} : { q: filter }),
      ...(sort === "id" ? {} : { sort }),
    }).toString();
    return `${base}/schedules${search === "" ? "" : `?${search}`}`;
  },
  schedule: (id: string) => `${base}/schedules/${encodeURIComponent(id)}`,
  scheduleAny: `${base}/schedules/:id`,
  upcoming: `${base}/upcoming`,
  kinds: `${base}/kinds`,
  kindsWith: (fields: Readonly<Record<string, string>>) => `${base}/kinds?${new URLSearchParams(fields)}`,
  runs: `${base}/runs`,
  run: (id: string) => `${base}/runs/${id}`,
  deadLetters: `${base}/dead-letters`,
  deadLettersOf: (ended: string) => `${base}/dead-letters${ended === "" ? "" : `?ended=${encodeURIComponent(ended)}`}`,
  lanes: `${base}/lanes`,
  locks: `${base}/locks`,
  activity: `${base}/activity`,
  activityOf: (fields: Readonly<Record<string, string>>) =>
    `${base}/activity?${new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ""))}`,
} as const;
