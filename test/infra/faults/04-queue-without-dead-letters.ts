import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "a lane's queue has no dead-letter queue",
  refusedBy: "queue-dead-letters",
  plant(template) {
    delete first(template, "AWS::SQS::Queue", /Lane.*Queue/).Properties["RedrivePolicy"];
  },
});
