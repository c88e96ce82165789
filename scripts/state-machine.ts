/** Writes docs/state-machine.md from the transition table: `node scripts/state-machine.ts`. A test compares them. */
import { writeFileSync } from "node:fs";
import { isFinal, type State, states, type Transition, transitions } from "../src/machine/state.ts";

export const target = new URL("../docs/state-machine.md", import.meta.url);

export const stateMachine = (): string => `# The state machine of a job

<!-- Generated from src/machine/state.ts by \`node scripts/state-machine.ts\`; a test compares them. -->

One pure function (\`src/machine/decide.ts\`) picks the next state when an attempt ends, one statement family writes it, and the
table itself refuses every move that is not listed here, also from plain SQL. Staying in a state is not a move.

\`\`\`mermaid
${diagram()}
\`\`\`

## States

| state | what it means |
|---|---|
${states.map((state) => `| ${isFinal(state) ? `**${state}**` : state} | ${meanings[state]} |`).join("\n")}

The final states are bold. Out of ${listed(states.filter((state) => exitsOf(state).length === 0))} nothing leads; the other final states can be retried by a person.

## Moves

Every move is a compare-and-set: on the generation before a claim, on the attempt after it. Entering QUEUED takes a new
generation, entering RUNNING takes attempt + 1; neither number ever goes down.

| from | to | by | when |
|---|---|---|---|
${transitions.map((move) => `| ${move.from ?? "(new)"} | ${move.to} | ${move.by} | ${move.when} |`).join("\n")}

## All pairs

${pairs()}
`;

const meanings: Readonly<Record<State, string>> = {
  PENDING: "it waits: for its time, for its predecessors, or (held) for a slot or the end of a pause",
  QUEUED: "a message is out that may claim it",
  RUNNING: "a worker holds it under a lease, as the attempt in its row",
  RETRY_WAIT: "a try has failed and another one is due later",
  SUCCESS: "done; its result is in the row",
  FAILED: "it waits for a person: permanent error, attempts used up, undeliverable, or parked as ambiguous",
  CANCELED: "a person or the API ended it",
  SKIPPED: "it was decided not to run it, with the reason in its event",
};

const exitsOf = (state: State): readonly Transition[] => transitions.filter((move) => move.from === state);

function diagram(): string {
  const arrows = transitions.map(({ from, to, by }) => `    ${from ?? "[*]"} --> ${to}: ${by}`);
  const ends = states.filter(isFinal).map((state) => `    ${state} --> [*]`);
  return ["stateDiagram-v2", "    direction LR", ...arrows, ...ends].join("\n");
}

/** The 8 x 8 table that the guard of the database is tested against. */
function pairs(): string {
  const allowed = new Set(transitions.map(({ from, to }) => `${from}>${to}`));
  const row = (from: State) =>
    `| ${from} | ${states.map((to) => (allowed.has(`${from}>${to}`) ? "yes" : "")).join(" | ")} |`;
  return [`| from \\ to | ${states.join(" | ")} |`, `|---|${"---|".repeat(states.length)}`, ...states.map(row)].join(
    "\n",
  );
}

const listed = (names: readonly string[]): string => names.join(" and ");

if (import.meta.main) writeFileSync(target, stateMachine());
