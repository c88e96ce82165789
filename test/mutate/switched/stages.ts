import { testsByServer } from "../../support/tests-by-server.ts";
import { elsewhere } from "../elsewhere.ts";
import type { Stage } from "./judge.ts";

const isHere = (file: string): boolean => !elsewhere.test(file.replace(/^test\//, ""));

/** First what needs no database: most mutants are found there, in milliseconds. On Postgres a run takes a hundred times as long. */
export function stages(): Stage[] {
  const { pure, patching, postgres } = testsByServer();
  return [
    {
      name: "without a database",
      files: [...pure, ...patching].filter(isHere),
      rounds: [
        { untriedOnly: false, testsMax: 3, msMax: 300 },
        { untriedOnly: false, testsMax: 25, msMax: 4_000 },
        { untriedOnly: false, testsMax: 1_000, msMax: 8_000 },
      ],
    },
    {
      name: "on Postgres",
      files: postgres.filter(isHere),
      rounds: [
        { untriedOnly: true, testsMax: 3, msMax: 6_000 },
        { untriedOnly: false, testsMax: 2, msMax: 3_000 },
      ],
    },
  ];
}
