import { InvalidPayload, KeyConflict } from "../define/errors.ts";
import { SealUnavailable } from "../machine/seal.ts";
import { HttpProblem } from "./problem.ts";

/** What is wrong with a payload or a key that was not written, as the API says it; another error as it is. */
export function preparedProblem(error: unknown): unknown {
  if (error instanceof InvalidPayload) {
    const issues = error.issues.map(({ path, message }) => ({ path: path ? `payload.${path}` : "payload", message }));
    return new HttpProblem("invalid-payload", error.message, { issues });
  }
  // A limit of the core that depends on the definition: the stored payload, or the key it computes.
  if (error instanceof RangeError) return new HttpProblem("over-limit", error.message);
  if (error instanceof KeyConflict)
    return new HttpProblem("key-conflict", error.message, { extra: { conflict: error.detail } });
  if (error instanceof SealUnavailable) {
    const detail =
      "the payload cannot be sealed, as this process may not use the key: nothing was changed; the log says why";
    return new HttpProblem("seal-unavailable", detail, { cause: error });
  }
  return error;
}
