/** `npm run package -- [--out FOLDER] [--version V]`: the tarballs of belfry, belfry-local and create-belfry. */
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import own from "../../package.json" with { type: "json" };
import { layOut } from "./lay-out.ts";

const { values } = parseArgs({
  options: {
    out: { type: "string", default: ".belfry/package" },
    version: { type: "string", default: own.version },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(
    "npm run package -- [--out FOLDER] [--version V]: makes the tarballs of belfry, belfry-local, create-belfry",
  );
  process.exit(0);
}
const out = resolve(values.out);
for (const folder of Object.values(await layOut(out, values.version)) as string[]) {
  const packed = execFileSync("npm", ["pack", "--json", "--pack-destination", out], {
    cwd: folder,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename, files }] = JSON.parse(packed) as [{ filename: string; files: readonly unknown[] }];
  const kb = Math.round(statSync(join(out, filename)).size / 1_000);
  console.log(`${join(out, filename)}  ${files.length} files, ${kb} KB`);
}
