import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { type Watch, watchSources } from "../../src/local/watch.ts";
import { freshFolder } from "./folder.ts";
import { until } from "./until.ts";

let folder: string;
let seen: string[];
let watch: Watch;

beforeEach(() => {
  folder = freshFolder();
  mkdirSync(join(folder, "app", "jobs"), { recursive: true });
  mkdirSync(join(folder, "app", "home"));
  writeFileSync(join(folder, "app", "jobs", "greet.ts"), "1");
  seen = [];
  const home = join(folder, "app", "home");
  const wanted = { file: () => true, folder: (path: string) => path !== home };
  watch = watchSources([join(folder, "app")], wanted, (file) => void seen.push(file));
  onTestFinished(watch.stop);
});

const save = (path: string, text: string): void => writeFileSync(join(folder, "app", path), text);
const reported = (): Promise<boolean> => until("a report", () => seen.length > 0);

describe("the watched sources", () => {
  it("report a file that is written in place, once for all of its steps", async () => {
    save("jobs/greet.ts", "2");
    save("jobs/greet.ts", "3");
    await reported();
    expect(seen).toEqual(["greet.ts"]);
  });

  it("report a save that comes just before the folders are followed again, as after a reload", async () => {
    save("jobs/greet.ts", "2");
    watch.follow([join(folder, "app")]);
    await reported();
    expect(seen).toEqual(["greet.ts"]);
  });

  it("report what is saved in a folder that is followed later", async () => {
    mkdirSync(join(folder, "beside"));
    watch.follow([join(folder, "beside")]);
    writeFileSync(join(folder, "beside/late.ts"), "1");
    await reported();
    expect(seen).toEqual(["late.ts"]);
  });

  it("report a file again and again that an editor replaces by renaming", async () => {
    for (const round of [1, 2, 3]) {
      seen.length = 0;
      save("jobs/greet.ts~", String(round));
      renameSync(join(folder, "app/jobs/greet.ts~"), join(folder, "app/jobs/greet.ts"));
      await reported();
      expect(seen).toContain("greet.ts");
    }
  });

  it("report a folder that comes with its files, also one that takes the place of another", async () => {
    mkdirSync(join(folder, "made/deep"), { recursive: true });
    rmSync(join(folder, "app/jobs"), { recursive: true });
    renameSync(join(folder, "made"), join(folder, "app/jobs"));
    await reported();
    expect(seen).toContain("jobs");
    seen.length = 0;
    save("jobs/deep/new.ts", "1");
    await reported();
    expect(seen).toEqual(["new.ts"]);
  });

  it("say nothing of other files, of hidden folders and of the system's own home", async () => {
    mkdirSync(join(folder, "app/.git"));
    save("notes.txt", "1");
    save(".git/hook.ts", "1");
    save("home/data.json", "1");
    save("jobs/greet.ts", "2");
    await reported();
    expect(seen).toEqual(["greet.ts"]);
  });
});
