import { onConnection } from "../../src/postgres/access.ts";
import { step } from "../support/steps.ts";
import type { Aws } from "../../src/aws/aws-call.ts";
import type { Cdk } from "./cdk.ts";
import { stackNow } from "./deployed.ts";
import { nextVersion } from "./next-release.ts";
import { succeeds } from "./scenario.ts";

const nextRelease = "test/emulator/next-release.ts";

/** A release that fails behind its migration, the same one again without its fault, and the old one: jobs run after each. */
export async function goBack(aws: Aws, cdk: Cdk, databaseUrl: string): Promise<void> {
  let runs = 0;
  const runsJobs = async (): Promise<string> => {
    const { Outputs, status } = await stackNow(aws);
    const apiUrl = Outputs.find((value) => value.includes("lambda-url")) ?? "";
    return `${status}, ${await succeeds({ aws, apiUrl }, `going-back-${++runs}`)}`;
  };
  const asVersion = async (wanted: number): Promise<string> => {
    const found = await versionOf(databaseUrl);
    if (found !== wanted) throw new Error(`the database is at version ${found}, not ${wanted}`);
    return runsJobs();
  };
  await step("the next release fails behind its migration and is rolled back", async () => {
    const failed = await cdk.deployBy(nextRelease, { fails: "yes" }).then(
      () => null,
      (error: unknown) => (error instanceof Error ? error.message : "it failed without a reason"),
    );
    if (failed === null) throw new Error("the release that must fail was deployed");
    const { status } = await stackNow(aws);
    if (status !== "UPDATE_ROLLBACK_COMPLETE") throw new Error(`the stack is ${status}:\n${failed}`);
    return status;
  });
  await step("the old release's jobs run on the expanded database", () => asVersion(nextVersion));
  await step("cdk deploy of the next release without its fault", () => cdk.deployBy(nextRelease));
  await step("its jobs run", () => asVersion(nextVersion));
  await step("cdk deploy of the old release", async () => {
    await cdk.deploy();
  });
  await step("the old release's jobs run again", () => asVersion(nextVersion));
}

const versionOf = (databaseUrl: string): Promise<number> =>
  onConnection({ url: databaseUrl }, async (client) => {
    const { rows } = await client.query<{ version: number }>(
      "select max(number)::int as version from belfry.migration where set = 'belfry'",
    );
    return rows[0]?.version ?? 0;
  });
