import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const core = new URL("../../src/compose/index.ts", import.meta.url).href;

/** Writes (or edits) the module of an app whose one job, scheduled every second, answers `text`. @returns its URL. */
export function writeGreetingApp(folder: string, text: string): URL {
  const file = join(folder, "app.ts");
  writeFileSync(
    file,
    `import { defineApp, defineJob, defineSchedule } from ${JSON.stringify(core)};
const greet = defineJob({ id: "greet", run: async () => ({ said: ${JSON.stringify(text)} }) });
const often = defineSchedule({ id: "greet-often", every: "1s", run: greet });
export default [defineApp({ name: "greeting", schedules: [often] })];
`,
  );
  return pathToFileURL(file);
}
