/** The objectives of DATABASE_URL, a line of JSON each, four times a second until it is ended. */
import { readObjectives } from "../../src/insight/objectives.ts";
import { openConnections } from "../../src/postgres/connect.ts";
import { createDatabase } from "../../src/postgres/database.ts";
import { letPass } from "./until.ts";

const insight = createDatabase(
  openConnections({ url: process.env["DATABASE_URL"] ?? "", applicationName: "belfry proof" }),
);
for (;;) {
  const { objectives } = await readObjectives(insight, { isWhole: true });
  process.stdout.write(`${JSON.stringify(objectives)}\n`);
  await letPass(250);
}
