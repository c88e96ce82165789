import { Command } from "commander";
import { api } from "./api.ts";
import type { OperationName, ReplyOf } from "../api/api.ts";
import { exitCodes, Finished } from "./exit.ts";
import type { Output, World } from "./output.ts";
import { queryIn, type Values, withQuery } from "./query-options.ts";

interface Reading<N extends OperationName> {
  readonly name: string;
  /** Left out at the top level, whose table has it. */
  readonly about?: string;
  /** What follows `npx belfry`. */
  readonly example: string;
  /** Its arguments in their order, by the parameter that each is: how the usage shows it, and what it is. */
  readonly args?: Readonly<Record<string, readonly [usage: string, about?: string]>>;
  /** Of the query's options: which are not offered, and words for others. */
  readonly without?: readonly string[];
  readonly words?: Values;
  /** Options that the API does not know. */
  readonly options?: Readonly<Record<string, string>>;
  /** What `--json` writes; default: the whole answer. */
  readonly result?: (answer: ReplyOf<N>) => object;
  readonly text: (answer: ReplyOf<N>, values: Values) => string;
  readonly notes?: (answer: ReplyOf<N>) => readonly (string | false)[];
  /** `--check`: exits with 7. */
  readonly check?: readonly [about: string, isFailed: (answer: ReplyOf<N>) => boolean];
}

/** A command with what its help says of it, and an example: what follows `npx belfry`. */
export const commandOf = (name: string, about: string, example: string): Command =>
  new Command(name).description(about).addHelpText("after", `\nExample:\n  $ npx belfry ${example}`);

/** Makes a command for the terminal and the machine that it runs on. */
export type MakesCommand = (world: World, out: Output) => Command;

/** A command with these under it, in the order of its help. `isFirstUsual`: without a name the first of them runs. */
export const groupOf =
  (name: string, commands: readonly MakesCommand[], { isFirstUsual = false } = {}): MakesCommand =>
  (world, out) =>
    commands.reduce(
      (group, make, place) => group.addCommand(make(world, out), { isDefault: isFirstUsual && place === 0 }),
      new Command(name),
    );

/** A command that shows what an operation answers. */
export const readCommand =
  <N extends OperationName>(operation: N, of: (out: Output, world: World) => Reading<N>): MakesCommand =>
  (world, out) => {
    const reading = of(out, world);
    const { name, about, example, args = {}, without = [], words = {}, check } = reading;
    const command = new Command(name).addHelpText("after", `\nExample:\n  $ npx belfry ${example}`);
    if (about !== undefined) command.description(about);
    for (const argument of Object.values(args)) command.argument(...argument);
    withQuery(command, operation, { without: [...without, ...Object.keys(args)], words });
    for (const [flag, text] of Object.entries(reading.options ?? {})) command.option(flag, text);
    if (check !== undefined) command.option("--check", check[0]);
    return command.action(async () => {
      const options = command.opts<Record<string, string | undefined>>();
      const named = Object.fromEntries(Object.keys(args).map((key, place) => [key, command.args[place]]));
      const answer = await api(world, command).call(operation, { ...queryIn(operation, options), ...named });
      out.result(reading.result?.(answer) ?? answer, () => reading.text(answer, { ...options, ...named }));
      const { nextCursor = null } = answer as { readonly nextCursor?: string | null };
      if (nextCursor !== null) out.note(`more: --cursor ${/^\w+$/.test(nextCursor) ? nextCursor : `'${nextCursor}'`}`);
      for (const note of reading.notes?.(answer) ?? []) if (note !== false) out.note(note);
      if (options["check"] !== undefined && check?.[1](answer) === true) throw new Finished(exitCodes.failedJob);
    });
  };

/** Each column's head, and what it shows of a row; null: nothing. */
export type Columns<R> = Readonly<Record<string, (row: R) => string | null>>;

export function tableOf<R>(out: Output, columns: Columns<R>, rows: readonly R[]): string {
  const cells = Object.values(columns);
  return out.table(
    Object.keys(columns),
    rows.map((row) => cells.map((cell) => cell(row) ?? "")),
  );
}
