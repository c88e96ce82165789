import { acting, Button, confirm, later, type Question, say } from "../parts/index.ts";
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
  const change = async (question: Question, work: () => Promise<void>): Promise<void> => {
    if (await confirm(question)) await acting(words.runs.notChanged(id), work).then(onDone);
  };
  const goOn = (question: Question, body: { readonly newest?: true } = {}): Promise<void> =>
    change(question, async () => {
      const begun = await ask("POST /runs/:id/retry", { id }, { body });
      say(words.runs.startAgain("again" in begun ? begun.again.length : begun.matched.count, id));
    });
  const retry = (): Promise<void> => {
    const facts = causesOf(map.failed).map(([, all]) => {
      const { code, message } = all[0]?.error ?? { code: words.shared.noCode, message: "" };
      return [`${code} (${numberText(all.length)})`, (message ?? "").slice(0, 80)] as const;
    });
    const { retryQuestion, resume: action } = words.runs;
    const text = words.bulk.consequences.retry;
    return goOn({ title: retryQuestion(kind, progress.failed), text, facts: facts.slice(0, causesShown), action });
  };
  const renew = (): Promise<void> => {
    const { renewQuestion, renewText: text, renew: action } = words.runs;
    return goOn({ title: renewQuestion(id), text, action }, { newest: true });
  };
  const rerun = (): Promise<void> => {
    const { rerunQuestion, rerunText: text, rerun: action, wasStarted } = words.runs;
    return change({ title: rerunQuestion(kind), text, action }, async () => {
      const made = await ask("POST /runs/:id/rerun", { id });
      say(wasStarted(made.id), { text: words.shared.show, href: addresses.run(made.id) });
      route(addresses.run(made.id));
    });
  };
  const cancel = (): Promise<void> => {
    const { done, running, total } = progress;
    const { cancelQuestion, cancelText, cancelRun: action, canceled: said } = words.runs;
    const text = cancelText(done, running, total - running - done);
    return change({ title: cancelQuestion(id), text, action, danger: true }, async () => {
      const { canceled } = await ask("POST /runs/:id/cancel", { id });
      say(said(canceled, id));
    });
  };
  const mayRetry = state === "FAILED" || state === "CANCELED" || (isOver && progress.failed > 0);
  useKeys([
    { keys: "r", does: words.runs.resume, run: () => void (mayRetry && retry()) },
    { keys: "R", does: words.runs.rerun, run: () => void rerun() },
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
      {shape === null || state === "DONE" ? null : <Button text={words.runs.renew} onClick={() => void renew()} />}
      <Button text={words.runs.rerun} onClick={() => void rerun()} />
      {mayRetry ? <Button text={words.runs.resume} look="primary" onClick={() => void retry()} /> : null}
    </div>
  );
}
