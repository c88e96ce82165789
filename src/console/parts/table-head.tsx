import type { ComponentChildren } from "preact";

export interface Column {
  readonly name: ComponentChildren;
  readonly isNumber?: boolean;
  /** Only read out: what stands below it speaks for itself. */
  readonly isHidden?: boolean;
  /** A class of the style sheet that sets its width. */
  readonly width?: string;
}

/** The head of a table: a plain name, or a column with more to say. */
export const TableHead = ({ columns }: { readonly columns: readonly (string | Column)[] }) => (
  <thead>
    <tr>
      {columns.map((column, index) => {
        const { name, isNumber, isHidden, width }: Column = typeof column === "string" ? { name: column } : column;
        return (
          <th key={index} scope="col" class={isNumber === true ? "number" : width}>
            {isHidden === true ? <span class="hidden">{name}</span> : name}
          </th>
        );
      })}
    </tr>
  </thead>
);
