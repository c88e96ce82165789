import { type Check, ofEach } from "./check.ts";
import { at, byId, listAt, ofType, referenceOf, type Template } from "./template.ts";

const visibilityFactor = 6;
const receivesMin = 5;

const timeoutOf = (template: Template, mapping: unknown): number | null => {
  const fn = byId(template, referenceOf(at(mapping, "FunctionName")));
  const timeout = fn?.properties["Timeout"];
  return typeof timeout === "number" ? timeout : null;
};

export const queueChecks: readonly Check[] = [
  {
    id: "visibility",
    rule: "a queue hides a message at least 6 times as long as its function may run, or a slow batch runs twice",
    find: (template) =>
      ofType(template, "AWS::Lambda::EventSourceMapping").flatMap(({ properties }) => {
        const queue = byId(template, referenceOf(properties["EventSourceArn"]));
        const timeout = timeoutOf(template, properties);
        if (queue === null || queue.type !== "AWS::SQS::Queue" || timeout === null) return [];
        const visibility = Number(queue.properties["VisibilityTimeout"] ?? 30);
        if (visibility >= visibilityFactor * timeout) return [];
        return [{ resource: queue.id, detail: `VisibilityTimeout ${visibility} s, function timeout ${timeout} s` }];
      }),
  },
  {
    id: "queue-dead-letters",
    rule: "a queue that is read has a dead-letter queue and at least 5 receives, or is itself one",
    find: (template) => {
      const targets = new Set(ofType(template, "AWS::SQS::Queue").map(({ properties }) => deadLetterId(properties)));
      return ofType(template, "AWS::Lambda::EventSourceMapping").flatMap(({ properties }) => {
        const queue = byId(template, referenceOf(properties["EventSourceArn"]));
        if (queue === null || queue.type !== "AWS::SQS::Queue" || targets.has(queue.id)) return [];
        const receives = at(queue.properties, "RedrivePolicy", "maxReceiveCount");
        if (typeof receives === "number" && receives >= receivesMin) return [];
        return [{ resource: queue.id, detail: `maxReceiveCount ${JSON.stringify(receives) ?? "none"}` }];
      });
    },
  },
  {
    id: "dead-letter-retention",
    rule: "a dead-letter queue keeps messages longer than its source, because they keep the time they were first sent",
    find: ofEach("AWS::SQS::Queue", ({ properties }, template) => {
      const target = byId(template, deadLetterId(properties));
      if (target === null) return null;
      const source = Number(properties["MessageRetentionPeriod"] ?? 345_600);
      const kept = Number(target.properties["MessageRetentionPeriod"] ?? 345_600);
      return kept > source ? null : `${source} s here, ${kept} s in ${target.id}`;
    }),
  },
  {
    id: "own-messages",
    rule: "a function that a queue invokes may send to that queue without an end: else Lambda stops it after 16 jobs that enqueue the next one",
    find: (template) =>
      ofType(template, "AWS::Lambda::EventSourceMapping").flatMap(({ properties }) => {
        const fn = byId(template, referenceOf(properties["FunctionName"]));
        const loops = fn?.properties["RecursiveLoop"];
        if (fn === null || loops === "Allow") return [];
        return [{ resource: fn.id, detail: `RecursiveLoop ${JSON.stringify(loops) ?? "left out: Terminate"}` }];
      }),
  },
  {
    id: "partial-batch",
    rule: "a mapping reports failures message by message, or one bad job runs its batch mates again",
    find: ofEach("AWS::Lambda::EventSourceMapping", ({ properties }) =>
      listAt(properties, "FunctionResponseTypes").includes("ReportBatchItemFailures")
        ? null
        : "no ReportBatchItemFailures",
    ),
  },
];

const deadLetterId = (properties: unknown): string | null =>
  referenceOf(at(properties, "RedrivePolicy", "deadLetterTargetArn"));
