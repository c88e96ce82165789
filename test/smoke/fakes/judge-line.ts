import type { ExampleReport } from "../../demo/report.ts";

/** What the task of the fakes writes to its log, a line each; `judged` or `failure` is the last. */
export type JudgeLine =
  | { readonly progress: string }
  | { readonly example: ExampleReport }
  | { readonly judged: { readonly pass: boolean; readonly scale: number; readonly seconds: number } }
  | { readonly failure: string };
