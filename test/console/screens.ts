import type { Locator, Page } from "playwright-core";
import type { Mode } from "./served-console.ts";

/** Each screen with a text that it shows once it is drawn. */
export const screens = [
  { path: "/", loaded: "Last failures" },
  { path: "/jobs", loaded: "send-open-mail" },
  { path: "/jobs/1", loaded: "Events" },
  { path: "/jobs/2", loaded: "Running for" },
  { path: "/jobs/3", loaded: "waits for a slot" },
  { path: "/schedules", loaded: "nightly-export" },
  { path: "/schedules/nightly-export", loaded: "Each cell has the colour" },
  { path: "/upcoming", loaded: "The one before has not ended" },
  { path: "/kinds", loaded: "Compared with" },
  { path: "/kinds?of=export-report&at=default", loaded: "p50 p95 p99" },
  { path: "/runs", loaded: "settlement" },
  { path: "/runs/7", loaded: "Retry from failed" },
  { path: "/runs/7?view=graph", loaded: "refunds" },
  { path: "/runs/7?view=matrix", loaded: "One column a run" },
  { path: "/dead-letters", loaded: "HTTP_503" },
  { path: "/lanes", loaded: "worker-0" },
  { path: "/locks", loaded: "scheduler" },
] as const;

/** Shown when the screen has drawn what it was answered. */
export function sign(page: Page, mode: Mode, loaded: string): Locator {
  if (mode === "loaded") return page.getByText(loaded);
  return mode === "error" ? page.getByRole("alert") : page.locator(".empty, .card-empty, .table");
}
