import type { ProblemList } from "./problem.ts";
import type { SealedBy } from "../machine/seal.ts";

/** Of a definition that a graph makes: its tasks open each other's outputs. */
export const sealOf = ({ id, seal }: { readonly id: string; readonly seal?: string | undefined }): SealOptions =>
  seal === undefined ? {} : { seal, sealScope: id };

interface SealOptions {
  readonly seal?: string;
  /** What it is sealed for. Default: the id of the definition. */
  readonly sealScope?: string;
}

/** In a variable, a path and a stored text. */
const sealName = /^[a-z][a-z0-9-]{0,31}$/;

export function sealFrom(
  { id, seal, sealScope = id }: SealOptions & { readonly id: string },
  problems: ProblemList,
): SealedBy | null {
  if (seal === undefined) return null;
  if (typeof seal !== "string" || !sealName.test(seal))
    problems.add("seal", seal, "must be small letters, digits and hyphens, at most 32", 'name a key, like "payroll"');
  return { name: seal, scope: sealScope };
}
