import type { Check } from "./check.ts";
import { at, byId, type NamedResource, listAt, ofType, referenceOf, type Template } from "./template.ts";

/** Where each type that keeps data says its key. */
const keyOf: Readonly<Record<string, (properties: NamedResource["properties"]) => unknown>> = {
  "AWS::SQS::Queue": ({ KmsMasterKeyId }) => KmsMasterKeyId,
  "AWS::Logs::LogGroup": ({ KmsKeyId }) => KmsKeyId,
  "AWS::RDS::DBCluster": ({ KmsKeyId }) => KmsKeyId,
  // One of a cluster has the cluster's.
  "AWS::RDS::DBInstance": ({ KmsKeyId, DBClusterIdentifier }) => (DBClusterIdentifier === undefined ? KmsKeyId : null),
  "AWS::DynamoDB::GlobalTable": ({ Replicas }) => at([Replicas].flat()[0], "SSESpecification", "KMSMasterKeyId"),
  "AWS::S3::Bucket": ({ BucketEncryption }) =>
    at(
      listAt(BucketEncryption, "ServerSideEncryptionConfiguration")[0],
      "ServerSideEncryptionByDefault",
      "KMSMasterKeyID",
    ),
};

/** What a role does that its service then asks the key for. */
const uses: readonly (readonly [RegExp, string])[] = [
  [/^sqs:(SendMessage|ReceiveMessage)$/, "sqs"],
  [/^dynamodb:(GetItem|UpdateItem)$/, "dynamodb"],
];

export const keyChecks: readonly Check[] = [
  {
    id: "own-key",
    rule: "a stage's own key encrypts all that keeps data, and those that use it may: Logs, EventBridge, and each process through its services",
    find(template) {
      const kept = keptData(template);
      const key = kept.find((each) => each.key !== undefined && each.key !== null)?.key;
      if (key === undefined) return [];
      const [first] = kept;
      return [
        ...kept.filter((each) => each.key === undefined).map(({ id }) => ({ resource: id, detail: "has another key" })),
        ...servicesWithout(template, key).map((name) => ({
          resource: first?.id ?? "",
          detail: `the key's policy does not let ${name} use it`,
        })),
        ...rolesWithout(template),
      ];
    },
  },
];

const keptData = (template: Template) =>
  Object.entries(keyOf).flatMap(([type, read]) =>
    ofType(template, type).map(({ id, properties }) => ({ id, key: read(properties) })),
  );

/** A key of another app says in its own policy who may use it. */
function servicesWithout(template: Template, key: unknown): readonly string[] {
  const own = byId(template, referenceOf(key));
  if (own === null) return [];
  const policy = JSON.stringify(own.properties["KeyPolicy"]);
  return ["logs.", "events."].filter(
    (service) =>
      !policy.includes(`"Service":{"Fn::Join":["",["${service}`) && !policy.includes(`"Service":"${service}`),
  );
}

function rolesWithout(template: Template) {
  return ofType(template, "AWS::IAM::Policy").flatMap(({ id, properties }) => {
    const statements = listAt(properties, "PolicyDocument", "Statement");
    const through = JSON.stringify(statements.map((each) => at(each, "Condition", "StringEquals", "kms:ViaService")));
    const actions = statements.flatMap((each) => [at(each, "Action")].flat().map(String));
    return uses
      .filter(([action, service]) => actions.some((each) => action.test(each)) && !through.includes(`${service}.`))
      .map(([, service]) => ({ resource: id, detail: `may not use the key through ${service}` }));
  });
}
