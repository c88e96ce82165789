/** Every request of the page. Where the API's shape and the page's differ, they meet here. */
import { get, post, query } from "./http.ts";
import type { JobDetail, JobPage } from "./shape.ts";

/** Fields of the filter bar, as the API calls them. */
export type JobQuery = Readonly<Record<string, string>>;

export const loadJobs = (filter: JobQuery, page: { cursor: string | null; limit: number }, signal?: AbortSignal) =>
  get<JobPage>(`/jobs${query({ ...filter, cursor: page.cursor, limit: page.limit })}`, signal);

export const loadJob = (id: string, signal?: AbortSignal) => get<JobDetail>(`/jobs/${encodeURIComponent(id)}`, signal);

export const retryJob = (id: string) => post<JobDetail>(`/jobs/${encodeURIComponent(id)}/retry`);
export const cancelJob = (id: string) => post<JobDetail>(`/jobs/${encodeURIComponent(id)}/cancel`);
