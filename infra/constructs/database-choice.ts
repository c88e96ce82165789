import type { Construct } from "constructs";
import { hoursAMonth, type PriceName, prices, use, type Use, usdOf } from "../../src/insight/prices.ts";
import type { Topology } from "../../src/stage/topology.ts";
import { makeAurora } from "./aurora.ts";
import { chosenDatabase, type DatabaseProps } from "./database-defaults.ts";
import type { Database } from "./database.ts";
import { ExistingDatabase } from "./existing-database.ts";
import type { Network } from "./network.ts";
import { RdsDatabase } from "./rds-database.ts";
import { makeInstance } from "./rds-instance.ts";

export function createDatabase(
  scope: Construct,
  id: string,
  props: {
    /** Left out: an instance by the defaults. */
    readonly database: DatabaseProps | undefined;
    readonly network: Network;
    readonly topology: Topology;
    readonly system: string;
  },
): Database {
  const { network, topology, system } = props;
  const database = chosenDatabase(props.database);
  const { stage } = topology;
  const { maxConnections } = topology.database;
  if (network.kind === "by-parameters" && database.kind !== "existing") {
    throw new Error(
      `database.kind is "${database.kind}": with network "by-parameters" it must be "existing", or pass the VPC itself (network.kind "existing")`,
    );
  }
  if (database.kind === "existing") return new ExistingDatabase(scope, id, { ...database, network, system, stage });
  return new RdsDatabase(scope, id, {
    network,
    maxConnections,
    settings: database,
    make: (within, place) =>
      database.kind === "instance" ? makeInstance(within, database, place) : makeAurora(within, database, place),
  });
}

/** A month of it, for what `belfry costs` says; nothing where its class has no price or it is no instance. */
export function priceOf(props: DatabaseProps | undefined): { readonly BELFRY_DATABASE_USD?: string } {
  const database = chosenDatabase(props);
  const instance = database.kind === "instance" ? priceNamed(`RDS ${database.instanceClass}`) : null;
  if (database.kind !== "instance" || instance === null) return {};
  return { BELFRY_DATABASE_USD: usdOf(databaseUses(instance, database.storageGb, database.multiAz)).toFixed(2) };
}

/** Null for what has no price there. */
export const priceNamed = (name: string): PriceName | null =>
  Object.hasOwn(prices, name) ? (name as PriceName) : null;

/** A month of an instance of RDS with its disk, and those of its standby. */
export function databaseUses(instance: PriceName, storageGb: number, isMultiAz: boolean): readonly Use[] {
  const copies = isMultiAz ? 2 : 1;
  return [
    use(instance, copies * hoursAMonth, isMultiAz ? "database and its standby" : "database"),
    use("RDS gp3", copies * storageGb, "disk of the database"),
  ];
}
