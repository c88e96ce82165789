import { operationsTour } from "../../operations-tour.ts";
import { tour } from "../../tour.ts";
import { restTour } from "../rest-tour.ts";
import type { Tour } from "../tour.ts";

/** Every verb with values of its daily life, twice: the second time it finds what the first left, rows that it must not touch. */
export const daily: Tour = {
  name: "daily",
  parts: [
    async ({ store, operations, clock }) => {
      for (const tag of ["first", "second"]) {
        await tour(store, clock, tag);
        await operationsTour(operations);
        await restTour({ store, operations, clock }, tag);
      }
    },
  ],
};
