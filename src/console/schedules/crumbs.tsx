import { addresses } from "../address.ts";
import { words } from "../language/words.ts";
import { Time } from "../parts/index.ts";

/** To a schedule, and of which of its times something is. */
export const scheduleCrumbs = (id: string, at: string | null, zone?: string) => [
  <a href={addresses.schedules}>{words.places.schedules}</a>,
  <a href={addresses.schedule(id)}>{id}</a>,
  ...(at === null ? [] : [<Time at={at} zone={zone} />]),
];
