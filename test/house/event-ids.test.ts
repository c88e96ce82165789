import { expect, test } from "vitest";
import { migrationFiles, readSource, sourceFiles } from "./imports.ts";

/** Texts that draw from the sequence themselves: the transaction may have no number yet, and readers never find the event. */
const draws = (text: string): boolean => /nextval\(\s*'(belfry\.)?event_id_seq'/.test(text);

test("an event id is drawn by belfry.next_event alone", () => {
  const files = [...sourceFiles(), ...migrationFiles()].filter((file) => file !== "test/house/event-ids.test.ts");
  expect(files.length).toBeGreaterThan(500);
  expect(files.filter((file) => draws(readSource(file)))).toEqual([
    "src/postgres/migrations/0002_events_and_messages.sql",
  ]);
});

test("a statement that draws from the sequence is found", () => {
  expect(draws("select nextval('belfry.event_id_seq') as id")).toBe(true);
});
