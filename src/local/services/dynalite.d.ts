/** The package ships no types; only what is used here. */
declare module "dynalite" {
  import type { Server } from "node:http";
  export default function dynalite(options: { path?: string; createTableMs?: number }): Server;
}
