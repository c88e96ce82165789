import { Tag, type TagProps } from "../parts/index.ts";
import type { RunReply } from "../../api/shape/run.ts";
import { words } from "../language/words.ts";

const looks: Readonly<Record<RunReply["state"], TagProps>> = {
  RUNNING: { icon: "RUNNING", tone: "busy", text: words.runs.states.RUNNING },
  CANCELING: { icon: "CANCELED", tone: "warn", text: words.runs.states.CANCELING },
  DONE: { icon: "SUCCESS", tone: "good", text: words.runs.states.DONE },
  FAILED: { icon: "FAILED", tone: "bad", text: words.runs.states.FAILED },
  CANCELED: { icon: "CANCELED", tone: "dim", text: words.runs.states.CANCELED },
};

/** What a run tolerated is said with its state. */
export function RunStatus({ state, progress }: Pick<RunReply, "state"> & Partial<Pick<RunReply, "progress">>) {
  const { failed, total } = progress ?? { failed: 0, total: 0 };
  const look = looks[state];
  return <Tag {...look} text={state === "DONE" && failed > 0 ? words.runs.doneWith(failed, total) : look.text} />;
}
