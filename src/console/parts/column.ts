import type { ComponentChildren } from "preact";

/** What a column says of a row. */
export interface Column<T> {
  readonly name: ComponentChildren;
  readonly cell: (row: T, index: number) => ComponentChildren;
  readonly isNumber?: boolean | undefined;
  /** Its name is only read out: what stands below it speaks for itself. */
  readonly isHidden?: boolean;
  /** A narrow window shows its name before the cell. */
  readonly isNamed?: boolean;
  /** Of the cells. `wide` takes a whole line of a narrow window, `wide-only` is left out there. */
  readonly class?: string | ((row: T) => string);
  readonly title?: (row: T) => string | undefined;
  /** As CSS writes it, for all columns or none: then no row changes it. */
  readonly width?: string;
  /** A click on its name sorts the rows by this, smallest first, then largest first. */
  readonly by?: (row: T) => string | number | null;
  /** Or asks the server for this order. */
  readonly order?: string;
}
