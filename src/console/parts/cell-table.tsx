import type { ComponentChildren } from "preact";
import { numberText } from "../language/number.ts";
import { words } from "../language/words.ts";
import type { Column } from "./column.tsx";
import { DataTable } from "./data-table.tsx";
import { Picture, linkPlace } from "./picture.tsx";

export interface DrawnCell {
  /** Classes of the style sheet. */
  readonly look: string;
  /** What it stands for. */
  readonly text: string;
  readonly href: string;
  readonly style?: Readonly<Record<string, string>>;
}

export interface CellRow {
  readonly id: string;
  /** Null where there is nothing. */
  readonly cells: readonly (DrawnCell | null)[];
  readonly failed: number;
  readonly of: number;
}

interface CellTableProps {
  readonly title: string;
  readonly how: string;
  /** What a row is, and what stands above the cells. */
  readonly names: readonly [row: string, cells: ComponentChildren];
  readonly rows: readonly CellRow[];
  /** Of a row's name, and the most of a cell, as CSS writes it. */
  readonly widths?: readonly [row: string, cell: string];
}

/** Of more rows only those in view exist, each as high as the style sheet says. */
const wholeMax = 40;
const rowPixels = 24;

/** Outcomes as cells, each a link: rows of one thing, columns of time. */
export const CellTable = ({ title, how, names: [row, cells], rows, widths = ["84px", "1fr"] }: CellTableProps) => (
  <Picture look="heat" how={how} style={{ "--cell": widths[1] }}>
    <DataTable
      label={title}
      rows={rows}
      {...(rows.length > wholeMax ? { height: rowPixels } : {})}
      idOf={({ id }) => id}
      columns={[
        { name: row, width: widths[0], class: "cut", title: ({ id }) => id, cell: ({ id }) => id },
        { name: cells, width: "minmax(0, 1fr)", class: "gantt", cell: (of) => <CellLine cells={of.cells} /> },
        failedColumn,
      ]}
    />
  </Picture>
);

const failedColumn: Column<CellRow> = {
  name: words.states.FAILED,
  width: "104px",
  isNumber: true,
  class: ({ failed }) => (failed > 0 ? "error-code" : "dim"),
  cell: ({ failed, of }) => `${numberText(failed)} / ${numberText(of)}`,
};

function CellLine({ cells }: Pick<CellRow, "cells">) {
  let n = 0;
  return (
    <InCells of={cells.length}>
      {cells.map((cell, place) =>
        cell === null ? (
          <i key={place} />
        ) : (
          <a
            key={place}
            {...linkPlace(n++)}
            class={cell.look}
            href={cell.href}
            aria-label={cell.text}
            style={cell.style}
          />
        ),
      )}
    </InCells>
  );
}

/** What stands above the cells, one for each. */
export const InCells = ({ of, children }: { readonly of: number; readonly children: ComponentChildren }) => (
  <span class="heat-cells" style={{ "--cells": String(of) }}>
    {children}
  </span>
);
