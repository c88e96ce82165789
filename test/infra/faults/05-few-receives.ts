import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a message dies after two receives, which throttling alone can cause",
  refusedBy: "queue-dead-letters",
  plant(template) {
    inside(first(template, "AWS::SQS::Queue", /Lane.*Queue/).Properties, "RedrivePolicy")["maxReceiveCount"] = 2;
  },
});
