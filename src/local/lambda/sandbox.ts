import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { type Children, hasEnded, type OnLine } from "../process/children.ts";
import { useOf } from "../process/operating-system.ts";

export interface SandboxOptions {
  readonly children: Children;
  /** For people: `worker default`. */
  readonly name: string;
  /** The function's file, which exports `handler`. */
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
  readonly runsHandlers?: boolean;
  /** An invocation that takes longer is ended with its process. */
  readonly timeoutMs: number;
  /** As of `ChildOptions`. */
  readonly code?: string | undefined;
  readonly onLine?: OnLine | undefined;
  /** Its event loop does not turn in an invocation: called every few seconds with the cause so far. */
  readonly onStill?: (cause: string, seconds: number) => void;
}

/** Where one invocation at a time runs: a process that lives on between invocations. */
export interface Sandbox {
  readonly pid: number;
  /** Rejects when the function's file cannot be imported. */
  readonly ready: Promise<void>;
  /** Resolves when the process is gone, with the cause: a sentence for the attempts that ended with it. */
  readonly ended: Promise<string>;
  /** @throws Error when the function threw, ran out of time, or its process ended. */
  invoke(event: unknown): Promise<unknown>;
  /** Notifies the function that the messages of the last invocation were deleted. */
  acknowledged(): void;
  /** SIGTERM, then SIGKILL after `graceMs`. */
  stop(graceMs: number): Promise<void>;
  kill(): void;
  readonly hasEnded: boolean;
}

/** A bound for what hangs: at load 30 an import took longer than 30 s, and each new try made the machine busier. */
const importMsMax = 120_000;
const runner = fileURLToPath(new URL("./sandbox-runner.ts", import.meta.url));

export function createSandbox(options: SandboxOptions): Sandbox {
  const { children, name, file, env } = options;
  const child = children.start({
    name,
    args: [runner, file, name],
    env,
    ipc: true,
    runsHandlers: options.runsHandlers === true,
    code: options.code,
    onLine(line, stream) {
      if (stream === "stderr" && saysOutOfMemory(line)) known.isOutOfMemory = true;
      options.onLine?.(line, stream);
    },
  });
  const known: Known = { isOutOfMemory: false, heapLimitMb: 0, killed: null };
  const ended = new Promise<string>((resolve) => {
    child.once("exit", (code, signal) => void causeOf(child, known, { code, signal }).then(resolve));
    child.once("error", (error) => resolve(`its process could not be started: ${error.message}`));
  });
  const talk = conversation(child, known, options);
  return {
    pid: child.pid ?? -1,
    ready: talk.ready,
    ended,
    invoke: talk.invoke,
    acknowledged: () => talk.say({ say: "acknowledged" }),
    stop(graceMs) {
      known.killed ??= `its process was stopped by the local system, and killed after ${graceMs / 1_000} s`;
      return children.stop(child, graceMs);
    },
    kill: () => void child.kill("SIGKILL"),
    get hasEnded() {
      return hasEnded(child);
    },
  };
}

/** What is known of a process before its end. */
interface Known {
  isOutOfMemory: boolean;
  heapLimitMb: number;
  /** Why this process would kill it. */
  killed: string | null;
}

const lastLinesMs = 1_000;

async function causeOf(
  child: ChildProcess,
  known: Known,
  { code, signal }: { code: number | null; signal: NodeJS.Signals | null },
): Promise<string> {
  if (signal === "SIGKILL" && known.killed !== null) return known.killed;
  // V8 writes why before it aborts, and the line may still be on its way. A child of the handler may keep the pipe open.
  if (signal === "SIGABRT" && child.stderr !== null && !child.stderr.closed)
    await Promise.race([once(child.stderr, "close"), wait(lastLinesMs)]);
  if (known.isOutOfMemory) return `its process ran out of memory (heap limit ${known.heapLimitMb} MB)`;
  return exitCause(code, signal);
}

function overTime(pid: number, timeoutMs: number, { stillSeconds }: BeatWatch): string {
  const slow = `the invocation took longer than its ${timeoutMs / 1_000} s`;
  return `${stillSeconds > 0 ? stillCause(pid, stillSeconds) : slow} and its process was killed`;
}

interface Conversation {
  readonly ready: Promise<void>;
  invoke(event: unknown): Promise<unknown>;
  say(message: ToSandbox): void;
}

function conversation(child: ChildProcess, known: Known, { timeoutMs, onStill }: SandboxOptions): Conversation {
  let id = 0;
  const ready = Promise.withResolvers<void>();
  // Callers that await `ready` see the failure; without this line Node would end on it when none does.
  ready.promise.catch(() => {});
  let current: { id: number; resolve: (answer: unknown) => void; reject: (error: Error) => void } | null = null;

  // Lambda gives a function ten seconds to be imported; a busy machine is slower.
  const tooLong = setTimeout(() => {
    kill(`its file was not imported within ${importMsMax / 1_000} s`);
  }, importMsMax);
  void ready.promise.then(
    () => clearTimeout(tooLong),
    () => clearTimeout(tooLong),
  );
  const fail = (why: string): void => {
    ready.reject(new Error(why));
    current?.reject(new Error(why));
  };
  // The invocation fails when the process is gone: until then the pool would hand this sandbox the next messages.
  const kill = (why: string): void => {
    known.killed = why;
    child.kill("SIGKILL");
  };
  let watch: BeatWatch | null = null;
  child.on("message", (message: FromSandbox) => {
    watch?.beat();
    if (message.say === "beat") return;
    if (message.say === "ready") {
      known.heapLimitMb = message.heapLimitMb;
      return ready.resolve();
    }
    if (message.id !== current?.id) return;
    if (message.say === "answer") current.resolve(message.answer);
    else current.reject(new Error(message.error));
  });
  child.once("exit", (code, signal) => {
    fail(signal === "SIGKILL" && known.killed !== null ? known.killed : exitCause(code, signal));
  });
  child.once("error", (error) => fail(`the process could not be started: ${error.message}`));

  const say = (message: ToSandbox): void => {
    // A process that just ended is noticed by its exit.
    if (child.connected) child.send(message, () => {});
  };
  return {
    ready: ready.promise,
    say,
    async invoke(event) {
      if (hasEnded(child)) throw new Error("the process ended before the invocation");
      const answer = Promise.withResolvers<unknown>();
      current = { id: ++id, resolve: answer.resolve, reject: answer.reject };
      const pid = child.pid ?? -1;
      const beats = watchBeats((seconds) => onStill?.(stillCause(pid, seconds), seconds));
      watch = beats;
      const timer = setTimeout(() => kill(overTime(pid, timeoutMs, beats)), timeoutMs);
      say({ say: "invoke", id, event, timeoutMs });
      try {
        return await answer.promise;
      } finally {
        clearTimeout(timer);
        beats.end();
        current = null;
      }
    },
  };
}

/** Why a process ended by itself or by a signal from outside: a sentence for the attempts that ended with it. */
export const exitCause = (code: number | null, signal: NodeJS.Signals | null): string =>
  signal === null ? `its process exited with code ${code}` : `its process was killed by ${signal}`;

/** What V8 writes before it aborts. */
const saysOutOfMemory = (line: string): boolean => /^FATAL ERROR: .*heap out of memory/.test(line);

/** Why the event loop of a process does not turn. */
const stillCause = (pid: number, seconds: number): string =>
  useOf(pid)?.state === "stopped"
    ? `its process was stopped (SIGSTOP) for ${seconds} s`
    : `the handler blocked the event loop for ${seconds} s`;

interface BeatWatch {
  beat(): void;
  /** Since the last beat. */
  readonly stillSeconds: number;
  end(): void;
}

const secondMs = 1_000;
/** Shorter than a lease: its lapse must find the cause noted. */
export const stillSecondsMin = 3;

/**
 * Counts seconds without a beat. By its own ticks, because beats wait unread while this process stands still itself.
 * @param onStill called every few seconds of standing still.
 */
function watchBeats(onStill: (seconds: number) => void): BeatWatch {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    if (seconds % stillSecondsMin === 0) onStill(seconds);
  }, secondMs);
  return {
    beat: () => void (seconds = 0),
    get stillSeconds() {
      return seconds < stillSecondsMin ? 0 : seconds;
    },
    end: () => clearInterval(timer),
  };
}

export type ToSandbox =
  | { readonly say: "invoke"; readonly id: number; readonly event: unknown; readonly timeoutMs: number }
  /** The messages of the last invocation were deleted from the queue. */
  | { readonly say: "acknowledged" };

export type FromSandbox =
  /** The function's file was imported; it may be invoked. */
  | { readonly say: "ready"; readonly heapLimitMb: number }
  /** Once a second of an invocation, if its event loop turns. */
  | { readonly say: "beat" }
  | { readonly say: "answer"; readonly id: number; readonly answer: unknown }
  | { readonly say: "threw"; readonly id: number; readonly error: string };

/** A Lambda function's module, as far as it is used. */
export interface FunctionModule {
  readonly handler: (event: unknown, context: InvocationContext) => Promise<unknown>;
  /** Called by the local system only: AWS does not report to a function that its messages were deleted. */
  readonly afterAcknowledge?: () => Promise<void>;
}

interface InvocationContext {
  readonly awsRequestId: string;
  readonly functionName: string;
  getRemainingTimeInMillis(): number;
}
