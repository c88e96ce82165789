import { writeNewVersion } from "../../experiments/new-version.ts";
import { startExample } from "../example-system.ts";
import type { Proof } from "../proof.ts";

/** The author's own experiment on a system of its own, which can do without its guard. */
export const newVersion: Proof = {
  name: "new-version",
  about: "dag-batch: a graph's new version is written while a batch of the old one runs",
  guards: ["snapshot"],
  async run(context, list) {
    const example = await startExample(context, { name: "dag-batch", label: "new version", scale: 1 });
    const work = example.system.work();
    for (const { name, pass, detail } of await writeNewVersion(example, "mine")) list.expect(name, pass, detail);
    await work.stop();
    await example.stop();
  },
};
