import type { Locator, Page } from "playwright-core";
import type { Mode } from "./served-console.ts";

/** Each screen with a text that it shows once it is drawn, and one that only its Korean catalogue has. */
export const screens = [
  { path: "/", loaded: "Last failures", korean: "최근 실패" },
  { path: "/jobs", loaded: "send-open-mail", korean: "마지막 오류" },
  { path: "/jobs/1", loaded: "Events", korean: "이벤트" },
  { path: "/jobs/2", loaded: "Running for", korean: "째 실행 중" },
  { path: "/jobs/3", loaded: "waits for a slot", korean: null },
  { path: "/schedules", loaded: "nightly-export", korean: "최근 30번" },
  { path: "/schedules/nightly-export", loaded: "Each cell has the colour", korean: "다음 시각" },
  { path: "/upcoming", loaded: "The one before has not ended", korean: "남은 시간" },
  { path: "/kinds", loaded: "Compared with", korean: "종류별" },
  { path: "/kinds?of=export-report&at=default", loaded: "p50 p95 p99", korean: null },
  { path: "/runs", loaded: "settlement", korean: "걸린 시간" },
  { path: "/runs/7", loaded: "Retry from failed", korean: "실패한 곳부터 재시도" },
  { path: "/runs/7?view=graph", loaded: "refunds", korean: null },
  { path: "/runs/7?view=matrix", loaded: "One column a run", korean: null },
  { path: "/dead-letters", loaded: "HTTP_503", korean: "HTTP_503" },
  { path: "/lanes", loaded: "worker-0", korean: "최대 워커" },
  { path: "/locks", loaded: "scheduler", korean: "펜스 설치" },
] as const;

/** Shown when the screen has drawn what it was answered. */
export function sign(page: Page, mode: Mode, loaded: string): Locator {
  if (mode === "loaded") return page.getByText(loaded);
  return mode === "error" ? page.getByRole("alert") : page.locator(".empty, .card-empty, .table");
}
