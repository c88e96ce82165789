import { crashWorker } from "./cases/crash-worker.ts";
import type { Proof } from "./proof.ts";

/** Every case there is, in the order of `all`. */
export const proofs: readonly Proof[] = [crashWorker];
