import type { ExampleReport, Report } from "../../demo/report.ts";

/** What the task of the fakes writes to its log, a line each; `judged` or `failure` is the last. */
export type JudgeLine =
  | { readonly progress: string }
  | { readonly example: ExampleReport }
  | { readonly judged: Omit<Report, "examples"> }
  | { readonly failure: string };
