import { resolve } from "node:path";
import { Command } from "commander";
import { cellsNow, type CellStores, changeCells, initCells } from "../../cells/move.ts";
import { type CellPlaces, openCells, readCells, withoutDatabases } from "../../cells/open.ts";
import { newestMap } from "../../cells/routing.ts";
import type { CellMap } from "../../machine/cell-map.ts";
import { CliError, exitCodes, Finished, messageOf, wrongUsage } from "../exit.ts";
import type { Output, World } from "../output.ts";

interface Opened {
  readonly places: CellPlaces;
  readonly stores: CellStores;
}

/** Speaks to the databases of the cells, or to the migration functions of deployed ones: BELFRY_CELLS names them. */
export function cellsCommand(world: World, out: Output): Command {
  const cells = new Command("cells").option(
    "--cells <file>",
    "names each cell with its database or migration function (default: BELFRY_CELLS)",
  );
  const within = async (command: Command, work: (opened: Opened) => Promise<void>): Promise<void> => {
    const file = command.optsWithGlobals<{ cells?: string }>().cells ?? world.env["BELFRY_CELLS"];
    if (!file) throw wrongUsage("no-cells", "name the file of the cells: set BELFRY_CELLS or --cells");
    const places = asked(() => readCells(resolve(world.folder, file)));
    const opened = openCells(places, world.env);
    try {
      await work({ places, stores: opened.stores });
    } catch (error) {
      if (error instanceof Finished) throw error;
      throw new CliError(exitCodes.failure, "cells", messageOf(error));
    } finally {
      await opened.close();
    }
  };
  const changed = (map: CellMap): void => out.result({ map }, () => rangesText(map, out));
  cells
    .command("show")
    .description("the map, and whether each cell has it")
    .addHelpText("after", "\nExample:\n  $ npx belfry cells show --cells cells.json")
    .action((_: object, command: Command) => within(command, (opened) => show(opened, out)));
  cells
    .command("init")
    .description("write the first map: ranges of the same size")
    .option("--first <cell>", "the stage that was there before: keys of all ranges are looked for in it")
    .addHelpText("after", "\nExample:\n  $ npx belfry cells init --cells cells.json")
    .action(({ first }: { first?: string }, command: Command) =>
      within(command, async ({ places, stores }) => changed(await initCells(stores, withoutDatabases(places), first))),
    );
  cells
    .command("move")
    .description("give a range of keys to another cell, while work goes on")
    .requiredOption("--from <hex>", "the first hash, 8 hexadecimal digits")
    .requiredOption("--to <hex>", "the last hash")
    .requiredOption("--cell <name>", "the cell that gets it")
    .addHelpText("after", "\nExample:\n  $ npx belfry cells move --from 00000000 --to 1fffffff --cell b")
    .action((range: { from: string; to: string; cell: string }, command: Command) =>
      within(command, async ({ stores }) => changed(await changeCells(stores, range))),
    );
  cells
    .command("forget")
    .description("look no more into a cell for keys of ranges that it had: after the retention of its jobs")
    .requiredOption("--cell <name>", "the cell that had them")
    .addHelpText("after", "\nExample:\n  $ npx belfry cells forget --cell a")
    .action(({ cell }: { cell: string }, command: Command) =>
      within(command, async ({ stores }) => changed(await changeCells(stores, { forget: cell }))),
    );
  return cells;
}

async function show({ places, stores }: Opened, out: Output): Promise<void> {
  const standing = await cellsNow(stores);
  const map = standing.every(({ version }) => version === null) ? null : await newestMap(stores.values());
  const rows = standing.map(({ cell, isAway, detail }) => [
    cell,
    String(places[cell]?.number),
    places[cell]?.stage ?? "",
    isAway ? "away" : "answers",
    detail,
  ]);
  out.result({ cells: standing, map }, () =>
    [
      out.table(["CELL", "NUMBER", "STAGE", "DATABASE", "CELL MAP"], rows),
      ...(map === null ? [] : [rangesText(map, out)]),
    ].join("\n"),
  );
  if (standing.some(({ version }) => version === null || version !== map?.version))
    throw new Finished(exitCodes.failure);
}

const rangesText = (map: CellMap, out: Output): string =>
  out.table(
    ["FROM", "TO", "CELL", "WAS"],
    map.ranges.map(({ from, to, cell, was = [] }) => [from, to, cell, was.join(", ")]),
  );

function asked<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw wrongUsage("bad-cells", messageOf(error));
  }
}
