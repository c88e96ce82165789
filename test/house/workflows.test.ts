import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { format } from "prettier";
import manifest from "../../package.json" with { type: "json" };

const read = (name: string): string =>
  readFileSync(new URL(`../../.github/workflows/${name}.yml`, import.meta.url), "utf8");

test.each(["ci", "deploy", "drift"])(
  "%s is YAML, says that we did not run it, and pins every action to a commit",
  async (name) => {
    const text = read(name);
    await expect(format(text, { parser: "yaml" })).resolves.toContain("jobs:");
    expect(text).toMatch(/^# Not run by us/);
    const used = [...text.matchAll(/uses: (\S+)/g)].map(([, action]) => action);
    expect(used.length).toBeGreaterThan(0);
    for (const action of used) expect(action).toMatch(/^[\w-]+\/[\w-]+@[0-9a-f]{40}$/);
  },
);

test("no workflow keeps a key of AWS, and deploys come by OIDC", () => {
  const text = read("deploy");
  expect(text).toContain("id-token: write");
  expect(text).toContain("role-to-assume:");
  expect(`${text}${read("ci")}`).not.toMatch(/secrets\.|aws-secret-access-key|AWS_SECRET/i);
});

test("what the workflows call is there", () => {
  const called = [read("ci"), read("deploy")].flatMap((text) =>
    [...text.matchAll(/npm run (?:-s )?([\w:]+)/g)].map(([, script]) => script ?? ""),
  );
  for (const script of called) expect(Object.keys(manifest.scripts)).toContain(script);
  expect(readFileSync(new URL("../../.ci/run", import.meta.url), "utf8")).toContain("npm run -s check");
});
