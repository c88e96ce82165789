import { useLocation } from "preact-iso";
import { addresses } from "../address.ts";
import { requestRunCancel, requestRerun, requestRunRetry } from "../client.ts";
import { useKeys } from "../keys.ts";
import { confirmed } from "../parts/confirm.tsx";
import { say, sayFailed } from "../parts/toast.tsx";
import type { ShownRun } from "../shape.ts";
import { plural } from "../words.ts";

interface RunActionsProps {
  readonly run: ShownRun;
  readonly onDone: () => void;
}

export function RunActions({ run: { id, kind, state, finishedAt }, onDone }: RunActionsProps) {
  const { route } = useLocation();
  const isOver = finishedAt !== null;
  const act = async (work: () => Promise<void>): Promise<void> => {
    try {
      await work();
    } catch (error) {
      sayFailed(`Run ${id} was not changed`, error);
    }
    onDone();
  };
  const retry = (): void =>
    void act(async () => {
      const { again } = await requestRunRetry(id);
      say(`${plural(again.length, "job")} of run ${id} start again`);
    });
  const rerun = async (): Promise<void> => {
    const text = "A new run with the same input and today's code. This one stays as it is.";
    if (!(await confirmed({ title: `Run ${kind} again?`, text, action: "Run again" }))) return;
    await act(async () => {
      const made = await requestRerun(id);
      say(`Run ${made.id} was started`, { text: "Show it", href: addresses.run(made.id) });
      route(addresses.run(made.id));
    });
  };
  const cancel = async (): Promise<void> => {
    const text = "Waiting jobs will not start; running ones are aborted.";
    if (!(await confirmed({ title: `Cancel run ${id}?`, text, action: "Cancel the run", danger: true }))) return;
    await act(async () => {
      const { canceled } = await requestRunCancel(id);
      say(`${plural(canceled, "job")} of run ${id} canceled`);
    });
  };
  const mayRetry = state === "FAILED" || state === "CANCELED";
  useKeys([
    { keys: "r", does: "Go on from what failed", run: () => mayRetry && retry() },
    { keys: "R", does: "Run it all again", run: () => void rerun() },
    { keys: "c", does: "Cancel the run", run: () => void (isOver ? undefined : cancel()) },
  ]);
  return (
    <div class="actions">
      {isOver ? null : (
        <button type="button" class="button danger" onClick={() => void cancel()}>
          Cancel
        </button>
      )}
      <button type="button" class="button" onClick={() => void rerun()}>
        Run again
      </button>
      {mayRetry ? (
        <button type="button" class="button primary" onClick={retry}>
          Retry from failed
        </button>
      ) : null}
    </div>
  );
}
