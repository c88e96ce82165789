import type { AppDefinition } from "belfry";
import hello from "./hello.ts";

/** What this deployment runs. A team adds its own apps here. */
const apps: readonly AppDefinition[] = [hello];
export default apps;
