import { signal } from "@preact/signals";

/** Goes up when something changed in the system, at most once a second: lists ask again. */
export const changes = signal(0);
