import { type Process, joinText } from "./processes.ts";
import { at, byId, type NamedResource, isObject, listAt, ofType, referenceOf, type Template } from "./template.ts";

/** Why there is no path; null where there is one. */
type Missing = string | null;

const https = 443;
const postgres = 5432;
/** What handlers call beside AWS; promised where a subnet has a default route for IPv4. */
export const internet = "the internet";

export const hasDefaultRoute = (template: Template, subnet: string): boolean =>
  routeOf(template, subnet, "DestinationCidrBlock", "0.0.0.0/0") !== null;

/** From one subnet of a process to a service of AWS. @returns what is missing on each way, or null. */
export function missingPath(template: Template, process: Process, subnet: string, service: string): Missing {
  if (service === "database") return missingDatabase(template, process, subnet);
  if (service === internet) return byIpv4(template, process, subnet);
  const ways = [
    ["endpoint", byEndpoint(template, process, subnet, service)],
    ["IPv6", byIpv6(template, process, subnet, service)],
    ["IPv4", byIpv4(template, process, subnet)],
  ] as const;
  if (ways.some(([, missing]) => missing === null)) return null;
  return ways.map(([way, missing]) => `${way}: ${missing}`).join(", ");
}

function byEndpoint(template: Template, process: Process, subnet: string, service: string): Missing {
  const endpoints = endpointsOf(template, service);
  if (endpoints.length === 0) return "none";
  const table = tableOf(template, subnet);
  const isReached = endpoints.some(({ properties }) =>
    properties["VpcEndpointType"] === "Interface"
      ? properties["PrivateDnsEnabled"] === true &&
        admits(template, listAt(properties, "SecurityGroupIds"), process, https)
      : listAt(properties, "RouteTableIds").some((each) => referenceOf(each) === table),
  );
  if (!isReached) return `${endpoints.map(({ id }) => id).join()} is not on the routes of ${subnet}`;
  const groups = endpoints.flatMap(({ properties }) => listAt(properties, "SecurityGroupIds"));
  return leaves(template, process, "CidrIp", { port: https, targets: groups });
}

const endpointsOf = (template: Template, service: string): readonly NamedResource[] =>
  ofType(template, "AWS::EC2::VPCEndpoint").filter(({ properties }) =>
    new RegExp(`\\.${service.replace(".", "\\.")}(\\.|$)`).test(joinText(properties["ServiceName"])),
  );

/** Whether an endpoint is the one way that a subnet could have to a service, and there is none. */
export const lacksEndpoint = (template: Template, subnet: string, service: string): boolean =>
  !["database", internet].includes(service) &&
  endpointsOf(template, service).length === 0 &&
  !hasDefaultRoute(template, subnet) &&
  routeOf(template, subnet, "DestinationIpv6CidrBlock", "::/0") === null;

function byIpv6(template: Template, process: Process, subnet: string, service: string): Missing {
  if (!process.overIpv6.includes(service)) {
    return `${service} is not called over it: a handler's clients need AWS_USE_DUALSTACK_ENDPOINT=true of their lane`;
  }
  if (byId(template, subnet)?.properties["Ipv6CidrBlock"] === undefined) return `${subnet} has no range`;
  const route = routeOf(template, subnet, "DestinationIpv6CidrBlock", "::/0");
  const gateway = referenceOf(route?.properties["EgressOnlyInternetGatewayId"]);
  if (byId(template, gateway) === null) return `${subnet} has no route to an egress-only gateway`;
  return leaves(template, process, "CidrIpv6", { port: https });
}

function byIpv4(template: Template, process: Process, subnet: string): Missing {
  const route = routeOf(template, subnet, "DestinationCidrBlock", "0.0.0.0/0");
  if (route === null) return `${subnet} has no default route`;
  const { properties } = route;
  const nat = byId(template, referenceOf(properties["NatGatewayId"]));
  const instance = byId(template, referenceOf(properties["InstanceId"]));
  const missing =
    nat !== null
      ? missingAtGateway(template, nat)
      : instance !== null
        ? missingAtInstance(template, process, instance)
        : missingAtInternet(template, properties["GatewayId"], process.hasAddress ? null : "it has no public address");
  return missing ?? leaves(template, process, "CidrIp", { port: https });
}

function missingAtGateway(template: Template, nat: NamedResource): Missing {
  if (nat.properties["AllocationId"] === undefined) return `${nat.id} has no public address`;
  return missingOutside(template, nat, referenceOf(nat.properties["SubnetId"]));
}

function missingAtInstance(template: Template, process: Process, instance: NamedResource): Missing {
  const [card] = listAt(instance.properties, "NetworkInterfaces");
  if (at(card, "AssociatePublicIpAddress") !== true) return `${instance.id} has no public address`;
  if (instance.properties["SourceDestCheck"] !== false) return `${instance.id} drops what is not for itself`;
  if (!admits(template, listAt(card, "GroupSet"), process, https)) return `the group of ${instance.id} lets nothing in`;
  return missingOutside(template, instance, referenceOf(at(card, "SubnetId")));
}

function missingOutside(template: Template, { id }: NamedResource, subnet: string | null): Missing {
  const route = subnet === null ? null : routeOf(template, subnet, "DestinationCidrBlock", "0.0.0.0/0");
  const missing = missingAtInternet(template, route?.properties["GatewayId"], null);
  return missing === null ? null : `behind ${id} ${missing}`;
}

function missingAtInternet(template: Template, gateway: unknown, missing: Missing): Missing {
  const id = referenceOf(gateway);
  if (byId(template, id) === null) return "the default route leads nowhere";
  const isAttached = ofType(template, "AWS::EC2::VPCGatewayAttachment").some(
    ({ properties }) => referenceOf(properties["InternetGatewayId"]) === id,
  );
  return isAttached ? missing : `${id} is attached to no VPC`;
}

function missingDatabase(template: Template, process: Process, subnet: string): Missing {
  const servers = ["AWS::RDS::DBInstance", "AWS::RDS::DBCluster"].flatMap((type) => ofType(template, type));
  const [server] = servers.filter(({ properties }) => properties["DBSubnetGroupName"] !== undefined);
  // The team's own: its groups and routes are in another template.
  if (server === undefined) return null;
  const groups = listAt(server.properties, "VPCSecurityGroups").concat(
    listAt(server.properties, "VpcSecurityGroupIds"),
  );
  if (!admits(template, groups, process, postgres)) return `the group of ${server.id} does not let it in`;
  const place = byId(template, referenceOf(server.properties["DBSubnetGroupName"]));
  const [there] = listAt(place?.properties, "SubnetIds");
  const vpcOf = (id: string | null) => referenceOf(byId(template, id)?.properties["VpcId"]);
  if (vpcOf(referenceOf(there)) !== vpcOf(subnet)) return `${server.id} is in another VPC`;
  return leaves(template, process, "CidrIp", { port: postgres, targets: groups });
}

const tableOf = (template: Template, subnet: string): string | null =>
  ofType(template, "AWS::EC2::SubnetRouteTableAssociation")
    .filter(({ properties }) => referenceOf(properties["SubnetId"]) === subnet)
    .map(({ properties }) => referenceOf(properties["RouteTableId"]))[0] ?? null;

function routeOf(template: Template, subnet: string, field: string, range: string): NamedResource | null {
  const table = tableOf(template, subnet);
  const routes = ofType(template, "AWS::EC2::Route").filter(
    ({ properties }) => referenceOf(properties["RouteTableId"]) === table && properties[field] === range,
  );
  return (table === null ? undefined : routes[0]) ?? null;
}

/** Whether a group of the process lets it out. A group that is not in the template is taken to. */
function leaves(
  template: Template,
  process: Process,
  field: "CidrIp" | "CidrIpv6",
  { port, targets = [] }: { readonly port: number; readonly targets?: readonly unknown[] },
): Missing {
  const targetIds = targets.map(referenceOf);
  const everywhere = field === "CidrIp" ? "0.0.0.0/0" : "::/0";
  const isOpen = process.groups.some((id) => {
    const group = byId(template, id);
    if (group === null) return true;
    const rules = [...listAt(group.properties, "SecurityGroupEgress"), ...standalone(template, "Egress", id)];
    // Without rules AWS itself adds one, for IPv4 only.
    if (rules.length === 0) return field === "CidrIp";
    return rules.some(
      (rule) =>
        covers(rule, port) &&
        (at(rule, field) === everywhere ||
          targetIds.includes(referenceOf(at(rule, "DestinationSecurityGroupId")) ?? "")),
    );
  });
  return isOpen || process.groups.length === 0 ? null : `its security group does not let port ${port} out`;
}

/** Whether one of the groups lets a process in: by its group, or by the range of the VPC. */
function admits(template: Template, groups: readonly unknown[], process: Process, port: number): boolean {
  return groups.some((value) => {
    const id = referenceOf(value);
    const group = byId(template, id);
    if (group === null) return true;
    return [...listAt(group.properties, "SecurityGroupIngress"), ...standalone(template, "Ingress", id)].some(
      (rule) =>
        covers(rule, port) &&
        (process.groups.includes(referenceOf(at(rule, "SourceSecurityGroupId")) ?? "") || isObject(at(rule, "CidrIp"))),
    );
  });
}

/** Rules of a group that are resources of their own. */
const standalone = (template: Template, way: "Egress" | "Ingress", group: string | null): readonly unknown[] =>
  ofType(template, `AWS::EC2::SecurityGroup${way}`)
    .filter(({ properties }) => referenceOf(properties["GroupId"]) === group)
    .map(({ properties }) => properties);

function covers(rule: unknown, port: number): boolean {
  if (at(rule, "IpProtocol") === "-1") return true;
  return Number(at(rule, "FromPort")) <= port && port <= Number(at(rule, "ToPort"));
}
