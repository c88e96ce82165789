import { acting, Button, confirm, later, say } from "../parts/index.ts";
import { useLocation } from "preact-iso";
import { useState } from "preact/hooks";
import { addresses } from "../address.ts";
import { ask } from "../http.ts";
import { useKeys } from "../keys.ts";
import type { RunReply } from "../../api/shape/run.ts";
import { numberText } from "../language/number.ts";
import type { LoadedMap } from "./run-map.ts";
import { causesOf, causesShown } from "./failed-list.tsx";
import { words } from "../language/words.ts";

const SignalForm = later(async () => (await import("../job/signal-form.tsx")).SignalForm);
/** Of a run in which more tasks wait for one, the others are behind their jobs. */
const signalsShown = 3;

interface RunActionsProps {
  readonly run: RunReply;
  readonly map: LoadedMap;
  readonly onDone: () => void;
}

export function RunActions({ run: { id, kind, shape, state, finishedAt, progress }, map, onDone }: RunActionsProps) {
  const { route } = useLocation();
  const [signal, setSignal] = useState<string | null>(null);
  const isOver = finishedAt !== null;
  const waiting = isOver ? [] : map.tasks.filter(({ wantsSignal }) => wantsSignal);
  const act = (work: () => Promise<void>): Promise<void> => acting(words.runs.notChanged(id), work).then(onDone);
  const retry = async (): Promise<void> => {
    const title = words.runs.retryQuestion(kind, progress.failed);
    const facts = causesOf(map.failed).map(([, all]) => {
      const { code, message } = all[0]?.error ?? { code: words.shared.noCode, message: "" };
      return [`${code} (${numberText(all.length)})`, (message ?? "").slice(0, 80)] as const;
    });
    const question = {
      title,
      text: words.bulk.consequences.retry,
      facts: facts.slice(0, causesShown),
      action: words.runs.resume,
    };
    if (!(await confirm(question))) return;
    await act(async () => {
      const begun = await ask("POST /runs/:id/retry", { id });
      say(words.runs.startAgain("again" in begun ? begun.again.length : begun.matched.count, id));
    });
  };
  const rerun = async (): Promise<void> => {
    const text = words.runs.rerunText;
    if (!(await confirm({ title: words.runs.rerunQuestion(kind), text, action: words.runs.rerun }))) return;
    await act(async () => {
      const made = await ask("POST /runs/:id/rerun", { id });
      say(words.runs.wasStarted(made.id), { text: words.shared.show, href: addresses.run(made.id) });
      route(addresses.run(made.id));
    });
  };
  const cancel = async (): Promise<void> => {
    const { done, running, total } = progress;
    const text = words.runs.cancelText(done, running, total - running - done);
    if (!(await confirm({ title: words.runs.cancelQuestion(id), text, action: words.runs.cancelRun, danger: true })))
      return;
    await act(async () => {
      const { canceled } = await ask("POST /runs/:id/cancel", { id });
      say(words.runs.canceled(canceled, id));
    });
  };
  const mayRetry = state === "FAILED" || state === "CANCELED" || (isOver && progress.failed > 0);
  useKeys([
    { keys: "r", does: words.runs.resumeKey, run: () => void (mayRetry && retry()) },
    { keys: "R", does: words.runs.rerunKey, run: () => void rerun() },
    { keys: "c", does: words.runs.cancelRun, run: () => void (isOver ? undefined : cancel()) },
  ]);
  return (
    <div class="line actions">
      {waiting.slice(0, signalsShown).map(({ name }) => (
        <Button key={name} text={words.job.signal(name)} look="primary" onClick={() => setSignal(name)} />
      ))}
      {signal === null ? null : (
        <SignalForm run={id} kind={`${kind}.${signal}`} task={signal} onDone={onDone} onClose={() => setSignal(null)} />
      )}
      {isOver ? null : <Button text={words.shared.cancel} look="danger" onClick={() => void cancel()} />}
      {shape === null || state === "DONE" ? null : (
        <Button text={words.runs.renew} onClick={() => void renew(id, act)} />
      )}
      <Button text={words.runs.rerun} onClick={() => void rerun()} />
      {mayRetry ? <Button text={words.runs.resume} look="primary" onClick={() => void retry()} /> : null}
    </div>
  );
}

async function renew(id: string, act: (work: () => Promise<void>) => Promise<void>): Promise<void> {
  const { renewQuestion, renewText: text, renew: action } = words.runs;
  if (!(await confirm({ title: renewQuestion(id), text, action }))) return;
  await act(async () => {
    const begun = await ask("POST /runs/:id/retry", { id }, { body: { newest: true } });
    if ("again" in begun) say(words.runs.startAgain(begun.again.length, id));
  });
}
