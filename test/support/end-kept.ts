/** For each file of tests that has a database. */
import { afterAll } from "vitest";
import { endKept } from "./database.ts";

afterAll(endKept);
