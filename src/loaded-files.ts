import { registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

const belfry = fileURLToPath(new URL("../", import.meta.url));
/** Of Belfry itself: an edit there needs a new start. */
const ownFolders = ["src", "functions", "scheduler-task", "infra"].map((name) => belfry + name + sep);

const files = new Set<string>();
let isRecording = false;

/**
 * Notes each file that is imported from the first call on, also in a sibling package of a workspace; none of installed packages.
 * @returns a function that returns them.
 */
export function recordLoaded(): () => readonly string[] {
  if (!isRecording) record();
  isRecording = true;
  return () => [...files];
}

function record(): void {
  registerHooks({
    load(url, context, next) {
      if (url.startsWith("file:")) {
        const file = fileURLToPath(url);
        if (!file.includes(`${sep}node_modules${sep}`) && !ownFolders.some((own) => file.startsWith(own)))
          files.add(file);
      }
      return next(url, context);
    },
  });
}
