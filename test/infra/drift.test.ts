import { readFileSync } from "node:fs";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { receiver } from "../publish/sink.ts";

const workflow = readFileSync(new URL("../../.github/workflows/drift.yml", import.meta.url), "utf8");

interface Difference {
  readonly id: string;
  readonly status: "MODIFIED" | "DELETED";
  readonly paths: readonly string[];
}

/** As CloudFormation writes it: members within members. */
const driftsOf = (...all: readonly Difference[]): string =>
  `<StackResourceDrifts>${all
    .map(({ id, status, paths }) => {
      const differences = paths.map(
        (path) =>
          `<member><PropertyPath>${path}</PropertyPath><ActualValue>60</ActualValue><ExpectedValue>50</ExpectedValue><DifferenceType>NOT_EQUAL</DifferenceType></member>`,
      );
      return `<member><PropertyDifferences>${differences.join("")}</PropertyDifferences><LogicalResourceId>${id}</LogicalResourceId><StackResourceDriftStatus>${status}</StackResourceDriftStatus></member>`;
    })
    .join("\n")}</StackResourceDrifts>`;

/** Runs what the workflow runs. */
async function look(...all: readonly Difference[]) {
  // It asks for a look, whether it is done, and what was found.
  const bodies = [
    "<StackDriftDetectionId>1a</StackDriftDetectionId>",
    "<DetectionStatus>DETECTION_COMPLETE</DetectionStatus>",
    driftsOf(...all),
  ];
  const { url } = await receiver((n) => ({ status: 200, body: bodies[n - 1] ?? "" }));
  const line = /run: npx node (scripts\/\S+ belfry-prod)/.exec(workflow)?.[1] ?? "";
  const child = spawn(process.execPath, line.split(" "), {
    cwd: fileURLToPath(new URL("../../", import.meta.url)),
    env: { AWS_REGION: "eu-west-1", AWS_ENDPOINT_URL: url, AWS_ACCESS_KEY_ID: "a", AWS_SECRET_ACCESS_KEY: "b" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  child.stdout.on("data", (part) => lines.push(String(part)));
  const [code] = (await once(child, "close")) as [number];
  return { code, said: lines.join("").trim() };
}

const grown = { id: "Instance", status: "MODIFIED", paths: ["/AllocatedStorage"] } as const;

test("a disk that RDS made larger is no drift; what a person changed beside it is", async () => {
  expect(await look()).toEqual({ code: 0, said: "" });
  expect(await look(grown)).toEqual({ code: 0, said: "" });
  const both = { ...grown, paths: ["/AllocatedStorage", "/DeletionProtection"] };
  expect(await look(both)).toEqual({ code: 1, said: "Instance has another /DeletionProtection" });
  const gone = { id: "Alarm", status: "DELETED", paths: [] } as const;
  const other = { id: "Queue", status: "MODIFIED", paths: ["/VisibilityTimeout"] } as const;
  expect(await look(grown, gone, other)).toEqual({
    code: 1,
    said: "Alarm was deleted\nQueue has another /VisibilityTimeout",
  });
});
