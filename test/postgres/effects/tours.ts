import type { Tour } from "./tour.ts";
import { claims } from "./tours/claims.ts";
import { claimsOfSlots } from "./tours/claims-of-slots.ts";
import { daily } from "./tours/daily.ts";
import { ends } from "./tours/ends.ts";
import { handOffs } from "./tours/hand-offs.ts";
import { requeues } from "./tours/requeues.ts";
import { rescues } from "./tours/rescues.ts";
import { waitings } from "./tours/waitings.ts";
import { walks } from "./tours/walks.ts";

export const tours: readonly Tour[] = [
  daily,
  walks,
  rescues,
  requeues,
  handOffs,
  claims,
  claimsOfSlots,
  ends,
  waitings,
];
