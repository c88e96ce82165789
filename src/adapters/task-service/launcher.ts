import type { Launcher } from "../../core/ports.ts";

const answerMs = 10_000;

/** Asks the local system to start a job's task as a process of its own: what ECS does on AWS. */
export function createTaskLauncher(url: string): Launcher {
  const ask = async (method: "POST" | "DELETE", task: unknown): Promise<void> => {
    const response = await fetch(url, { method, body: JSON.stringify(task), signal: AbortSignal.timeout(answerMs) });
    if (!response.ok) throw new Error(`the task service answered ${response.status}: ${await response.text()}`);
  };
  return {
    launch: (launch) => ask("POST", launch),
    stop: ({ jobId, attempt }, reason) => ask("DELETE", { jobId, attempt, reason }),
  };
}
