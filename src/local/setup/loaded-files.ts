import { registerHooks } from "node:module";
import { sep } from "node:path";
import { fileURLToPath } from "node:url";

const belfry = fileURLToPath(new URL("../../../", import.meta.url));
/** Of Belfry itself: an edit there needs a new start. */
const ownFolders = ["src", "functions", "scheduler-task", "infra"].map((name) => belfry + name + sep);

/**
 * Notes each file that is imported from now on, also in a sibling package of a workspace; none of installed packages.
 * @returns a function that returns them.
 */
export function recordLoaded(): () => readonly string[] {
  const files = new Set<string>();
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
  return () => [...files];
}
