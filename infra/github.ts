/**
 * The roles that `.github/workflows` take by GitHub's OIDC provider, once per account, by a person:
 * `npx cdk deploy --app "node infra/github.ts" -c repository=OWNER/NAME`, with `-c provider=ARN` where the account knows GitHub
 * already: it may do so once.
 */
import { App, Aws, CfnOutput, Stack } from "aws-cdk-lib";
import { ManagedPolicy, OidcProviderNative, PolicyStatement, Role, WebIdentityPrincipal } from "aws-cdk-lib/aws-iam";
import type { Construct } from "constructs";

const issuer = "token.actions.githubusercontent.com";

/** The roles of the CDK's bootstrap, by the tag that it gives them. */
type BootstrapRole = "deploy" | "file-publishing" | "image-publishing" | "lookup";

export interface GithubRolesProps {
  /** OWNER/NAME. */
  readonly repository: string;
  /** The ARN of the account's OIDC provider for GitHub. Left out, the stack makes it. */
  readonly provider?: string | undefined;
}

export class GithubRoles extends Stack {
  constructor(scope: Construct, id: string, { repository, provider }: GithubRolesProps) {
    super(scope, id, { description: "What Belfry's workflows may do" });
    const audience = "sts.amazonaws.com";
    const trusted =
      provider ??
      new OidcProviderNative(this, "Provider", { url: `https://${issuer}`, clientIds: [audience] }).oidcProviderArn;
    const role = (name: string, subjects: readonly string[]): Role => {
      const made = new Role(this, name, {
        assumedBy: new WebIdentityPrincipal(trusted, {
          StringEquals: {
            [`${issuer}:aud`]: audience,
            [`${issuer}:sub`]: subjects.map((subject) => `repo:${repository}:${subject}`),
          },
        }),
      });
      new CfnOutput(this, `${name}Role`, { value: made.roleArn, description: `AWS_${name.toUpperCase()}_ROLE` });
      return made;
    };
    const diff = role("Diff", ["pull_request"]);
    const deploy = role("Deploy", ["environment:small", "environment:prod"]);
    diff.addToPolicy(taking("lookup"));
    deploy.addToPolicy(taking("deploy", "file-publishing", "image-publishing", "lookup"));
    deploy.addToPolicy(new PolicyStatement({ actions: ["cloudwatch:DescribeAlarms"], resources: ["*"] }));
    for (const caller of [diff, deploy]) for (const statement of callingApi()) caller.addToPolicy(statement);
    // The CDK detects drift with the caller's own rights: CloudFormation reads each resource by them.
    const reading = ManagedPolicy.fromAwsManagedPolicyName("ReadOnlyAccess");
    role("Drift", ["ref:refs/heads/main"]).addManagedPolicy(reading);
  }
}

const taking = (...names: readonly BootstrapRole[]): PolicyStatement =>
  new PolicyStatement({
    actions: ["sts:AssumeRole", "sts:TagSession"],
    resources: [`arn:${Aws.PARTITION}:iam::${Aws.ACCOUNT_ID}:role/cdk-*`],
    conditions: { StringEquals: { "iam:ResourceTag/aws-cdk:bootstrap-role": names } },
  });

/**
 * `belfry check --against` and `belfry --stage`: find the API, and ask it. A stage that is not deployed yet is looked for among
 * all stacks: https://docs.aws.amazon.com/AWSCloudFormation/latest/APIReference/API_DescribeStacks.html
 */
const callingApi = (): readonly PolicyStatement[] => {
  const own = (service: string, what: string): string => `arn:${Aws.PARTITION}:${service}:*:${Aws.ACCOUNT_ID}:${what}`;
  const api = own("lambda", "function:belfry-*-BelfryHttp*");
  const throughUrl = { Bool: { "lambda:InvokedViaFunctionUrl": "true" } };
  return [
    new PolicyStatement({ actions: ["cloudformation:DescribeStacks", "cloudformation:ListStacks"], resources: ["*"] }),
    new PolicyStatement({ actions: ["lambda:InvokeFunctionUrl"], resources: [api] }),
    new PolicyStatement({ actions: ["lambda:InvokeFunction"], resources: [api], conditions: throughUrl }),
  ];
};

if (import.meta.main) {
  const app = new App();
  const repository: unknown = app.node.tryGetContext("repository");
  if (typeof repository !== "string" || !/^[\w.-]+\/[\w.-]+$/.test(repository)) {
    throw new Error("name the repository: -c repository=OWNER/NAME");
  }
  const provider: unknown = app.node.tryGetContext("provider");
  new GithubRoles(app, "belfry-github", { repository, provider: typeof provider === "string" ? provider : undefined });
  app.synth();
}
