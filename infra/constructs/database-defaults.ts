import { Token } from "aws-cdk-lib";
import type { AuroraProps, AuroraServerlessProps, AuroraSettings } from "./aurora.ts";
import type { ExistingDatabaseProps } from "./existing-database.ts";
import type { InstanceSettings, RdsInstanceProps } from "./rds-instance.ts";

/** Which Postgres a deployment has. Belfry is the only user of one that it makes. @beta */
export type DatabaseProps =
  | ({ readonly kind: "instance" } & RdsInstanceProps)
  | ({ readonly kind: "aurora" } & AuroraProps)
  | ({ readonly kind: "aurora-serverless" } & AuroraServerlessProps)
  | ({ readonly kind: "existing" } & ExistingDatabaseProps);

/** With the defaults of its kind. */
export type ChosenDatabase =
  | ({ readonly kind: "instance" } & InstanceSettings)
  | ({ readonly kind: "aurora" | "aurora-serverless" } & AuroraSettings)
  | ({ readonly kind: "existing" } & ExistingDatabaseProps);

const storageGbMax = 65_536;

/** One zone, one small instance: what fits a team that begins. */
const defaultsOf = (props: DatabaseProps): object => {
  const server = { backupDays: 7, onDelete: "snapshot" };
  if (props.kind !== "instance") return props.kind === "existing" ? {} : server;
  const { storageGb = 20 } = props;
  return {
    ...server,
    instanceClass: "db.t4g.small",
    storageGb,
    maxStorageGb: Math.min(5 * storageGb, storageGbMax),
    multiAz: false,
  };
};

interface Rule {
  readonly must: string;
  readonly isKept: (value: unknown) => boolean;
  readonly isRequired?: boolean;
}

const number = (min: number, max: number, step: 1 | 0.5): Rule => ({
  must: `be a ${step === 1 ? "whole number" : "number in steps of 0.5"} from ${min} to ${max}`,
  isKept: (value) =>
    Token.isUnresolved(value) ||
    (typeof value === "number" && value >= min && value <= max && Number.isInteger(value / step)),
});
const word = (...words: readonly string[]): Rule => ({
  must: `be "${words.join('" or "')}"`,
  isKept: (value) => words.includes(String(value)),
});
const truth: Rule = { must: "be true or false", isKept: (value) => typeof value === "boolean" };
const free: Rule = { must: "be given", isKept: () => true };
const instanceClass: Rule = {
  must: 'be a class of RDS like "db.t4g.small"',
  isKept: (value) => typeof value === "string" && (Token.isUnresolved(value) || /^db\.[\w-]+\.[\w-]+$/.test(value)),
  isRequired: true,
};
const storage = number(20, storageGbMax, 1);
const capacity = (min: number): Rule => ({ ...number(min, 256, 0.5), isRequired: true });

const server = {
  kind: free,
  backupWindow: free,
  maintenanceWindow: free,
  backupDays: number(1, 35, 1),
  deletionProtection: truth,
  onDelete: word("keep", "snapshot"),
  administrator: word("iam", "secret"),
};
const rules: Readonly<Record<DatabaseProps["kind"], Readonly<Record<string, Rule>>>> = {
  instance: {
    ...server,
    instanceClass,
    storageGb: storage,
    maxStorageGb: storage,
    multiAz: truth,
    copyBackupsTo: free,
  },
  aurora: { ...server, instanceClass, readers: number(0, 15, 1), ioOptimized: truth },
  "aurora-serverless": { ...server, minCapacity: capacity(0), maxCapacity: capacity(1) },
  existing: { kind: free, url: free, secret: free, clients: free, verifyCertificate: truth },
};

/** @throws Error for what a program without types may give. */
export function chosenDatabase(props: DatabaseProps = { kind: "instance" }): ChosenDatabase {
  const { kind } = props;
  if (!Object.hasOwn(rules, kind))
    throw new Error(`database.kind is ${shown(kind)}: it must be one of ${Object.keys(rules).join(", ")}`);
  const given = Object.entries(props).filter(([, value]) => value !== undefined);
  const chosen: Readonly<Record<string, unknown>> = { ...defaultsOf(props), ...Object.fromEntries(given) };
  const unknown = Object.keys(chosen).find((field) => !Object.hasOwn(rules[kind], field));
  if (unknown !== undefined) {
    const fields = Object.keys(rules[kind]).join(", ");
    throw new Error(`database.${unknown} is no field of kind "${kind}": it has ${fields}`);
  }
  for (const [field, { must, isKept, isRequired = false }] of Object.entries(rules[kind])) {
    const value = chosen[field];
    if (value === undefined ? isRequired : !isKept(value))
      throw new Error(`database.${field} is ${shown(value)}: it must ${must}`);
  }
  for (const [least, most] of [
    ["storageGb", "maxStorageGb"],
    ["minCapacity", "maxCapacity"],
  ] as const)
    if (![chosen[least], chosen[most]].some(Token.isUnresolved) && Number(chosen[most]) < Number(chosen[least]))
      throw new Error(
        `database.${most} is ${shown(chosen[most])}: it must be at least ${least}, ${shown(chosen[least])}`,
      );
  return chosen as unknown as ChosenDatabase;
}

const shown = (value: unknown): string => (typeof value === "string" ? JSON.stringify(value) : String(value));
