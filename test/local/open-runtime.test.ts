import { expect, test } from "vitest";
import { readConfig } from "../../src/stage/config.ts";
import { openRuntime } from "../../src/compose/runtime.ts";
import { project } from "../support/own-project.ts";

const environment = {
  BELFRY_STAGE: "dev",
  DATABASE_URL: "postgresql://127.0.0.1/belfry",
  AWS_ENDPOINT_URL: "http://127.0.0.1:9",
  BELFRY_APPS: new URL("too-much-app.ts", import.meta.url).href,
};

test("a start says at once what is wrong with a job, with a lane and with all of them together", async () => {
  const opening = openRuntime(readConfig(environment, project), { role: "setup" });
  await expect(opening).rejects.toThrow(
    /lane "nowhere" is not a lane[\s\S]*lane "big" of app "too-much": batchSize 100000 must be[\s\S]*database\.connectionsMax \d+ must be at most 60/,
  );
});
