import type { Tour } from "./tour.ts";
import { daily } from "./tours/daily.ts";
import { walks } from "./tours/walks.ts";

export const tours: readonly Tour[] = [daily, walks];
