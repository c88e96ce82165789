import { type Check, type Finding, ofEach } from "./check.ts";
import { hasDefaultRoute, internet, lacksEndpoint, missingPath } from "./paths.ts";
import { processes } from "./processes.ts";
import { at, type Template } from "./template.ts";

export const reachChecks: readonly Check[] = [
  {
    id: "reachability",
    rule: "each function and task reaches every service that its policies name and the database, from each of its subnets",
    find: (template) => reachOf(template).findings,
  },
  {
    id: "boot-signal",
    rule: "an instance whose boot can fail reports its result to CloudFormation, and boots after its route exists",
    find: ofEach("AWS::EC2::Instance", (instance, template) => {
      const policy = template.Resources[instance.id]?.CreationPolicy;
      const signals = JSON.stringify(instance.properties["UserData"] ?? "").includes("cfn-signal");
      const waits = instance.dependsOn.some((id) => template.Resources[id]?.Type === "AWS::EC2::Route");
      return [
        ...(at(policy, "ResourceSignal") !== undefined && signals ? [] : ["its boot signals nothing"]),
        ...(waits ? [] : ["it may boot before its route is there"]),
      ];
    }),
  },
];

export interface Reach {
  readonly findings: readonly Finding[];
  /** Paths that were looked at: a process, one of its subnets and a service. */
  readonly paths: number;
  /** Processes in subnets of another template, about which nothing can be said. */
  readonly undecided: readonly string[];
  /** What these call, which an endpoint or a way out has to lead to. */
  readonly undecidedCalls: readonly string[];
}

export function reachOf(template: Template): Reach {
  const all = processes(template);
  const paths = all.flatMap((process) =>
    process.subnets
      .filter((subnet) => template.Resources[subnet]?.Type === "AWS::EC2::Subnet")
      .flatMap((subnet) => {
        const others = hasDefaultRoute(template, subnet) ? [internet] : [];
        return [...process.calls, ...others].map((service) => ({ process, subnet, service }));
      }),
  );
  const looked = new Set(paths.map(({ process }) => process.id));
  const undecided = all.filter(({ id }) => !looked.has(id));
  const isolated = paths.filter(({ subnet, service }) => lacksEndpoint(template, subnet, service));
  const others = paths.filter((path) => !isolated.includes(path));
  return {
    paths: paths.length,
    undecided: undecided.map(({ id }) => id),
    undecidedCalls: namesOf(undecided.flatMap(({ calls }) => calls)).filter((name) => name !== "database"),
    findings: [
      ...missingEndpoints(isolated),
      ...others.flatMap(({ process, subnet, service }) => {
        const missing = missingPath(template, process, subnet, service);
        return missing === null ? [] : [{ resource: process.id, detail: `no path to ${service} (${missing})` }];
      }),
    ],
  };
}

interface Path {
  readonly process: { readonly id: string };
  readonly subnet: string;
  readonly service: string;
}

/** One finding for all that run in subnets without a way out, not one for each path. */
function missingEndpoints(paths: readonly Path[]): readonly Finding[] {
  const [first] = paths;
  if (first === undefined) return [];
  const subnets = namesOf(paths.map(({ subnet }) => subnet)).join(", ");
  const services = namesOf(paths.map(({ service }) => service));
  const detail = `${subnets} have no way out, so endpoints are missing: ${services.map(endpointName).join(", ")}`;
  return [{ resource: first.process.id, detail }];
}

const gateways = ["dynamodb", "s3"];
const endpointName = (service: string): string => (gateways.includes(service) ? `${service} (gateway)` : service);

const namesOf = (all: readonly string[]): readonly string[] => [...new Set(all)].toSorted();
