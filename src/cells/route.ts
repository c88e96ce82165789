/** Which cell has a text. */
import { hash } from "node:crypto";
import { type CellMap, type CellRange, rangeAt } from "../core/ports/cell-map.ts";

export const rangeOf = (map: Pick<CellMap, "ranges">, text: string): CellRange =>
  rangeAt(map, hash("sha256", text, "buffer").readUInt32BE(0));

export const cellOf = (map: Pick<CellMap, "ranges">, text: string): string => rangeOf(map, text).cell;
