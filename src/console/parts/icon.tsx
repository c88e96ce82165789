import type { JobState } from "../jobs/state.ts";

/** Drawn on 16 x 16 with a line of 1.5. Each state has a shape of its own, so that none depends on its colour. */
const paths = {
  overview: "M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5V8M13.5 13.5v-11",
  jobs: "M2.5 4h11M2.5 8h11M2.5 12h7",
  schedules: "M8 2.2a5.8 5.8 0 1 1 0 11.6A5.8 5.8 0 0 1 8 2.2M8 5v3.2l2.2 1.6",
  kinds: "M2.5 3h5v4h-5zM2.5 9h5v4h-5zM10 5h3.5M10 11h3.5",
  runs: "M4 4h.01M12 8h.01M4 12h.01M4 4h3l5 4-5 4H4",
  "dead-letters": "M2.5 4.5h11v7h-11zM2.8 4.8 8 9l5.2-4.2",
  lanes: "M2 5h12M2 11h12M4.5 8h2M9.5 8h2",
  locks: "M4 7.5h8v6H4zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5",
  PENDING: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11",
  QUEUED: "M3 4.5h10M3 8h10M3 11.5h6",
  RUNNING: "M5 3.2v9.6L12.5 8z",
  upcoming: "M2.5 3.5h11v10h-11zM2.5 6.5h11M5.5 2v3M10.5 2v3",
  activity: "M2 8.5h3l2-5 2.5 9 2-4H14",
  RETRY_WAIT: "M12.8 6A5.2 5.2 0 1 0 13 9.5M13 3v3.2H9.8",
  SUCCESS: "M3 8.4 6.4 12 13 4.5",
  FAILED: "M4 4l8 8M12 4l-8 8",
  CANCELED: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M4.2 11.8l7.6-7.6",
  SKIPPED: "M3 4l4.5 4L3 12M8 4l4.5 4L8 12M13.5 4v8",
  LOST: "M8 2.5v6.5M8 12.8h.01",
  RELEASED: "M13 8H3M7 4 3 8l4 4",
  warning: "M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01",
  info: "M8 2.5a5.5 5.5 0 1 1 0 11 5.5 5.5 0 0 1 0-11M8 7.5v3.5M8 5.2h.01",
  search: "M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.4 10.4 13.5 13.5",
  close: "M4 4l8 8M12 4l-8 8",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.2v9.6L12.5 8z",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5",
  sun: "M8 5.2a2.8 2.8 0 1 1 0 5.6 2.8 2.8 0 0 1 0-5.6M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  system: "M2.5 3.5h11v7.5h-11zM6 13.5h4",
  keyboard: "M1.5 4.5h13v7.5h-13zM4 7h.01M6.7 7h.01M9.3 7h.01M12 7h.01M5 9.7h6",
} as const satisfies Record<JobState, string> & Record<string, string>;

export type IconName = keyof typeof paths;

/** Decoration only: the word beside it says the same. */
export const Icon = ({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) => (
  <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);
