import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "a dead-letter queue keeps messages no longer than its source",
  refusedBy: "dead-letter-retention",
  plant(template) {
    first(template, "AWS::SQS::Queue", /Lane.*DeadLetters/).Properties["MessageRetentionPeriod"] = 345_600;
  },
});
