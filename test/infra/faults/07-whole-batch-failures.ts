import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "a mapping gives back a whole batch when one message fails",
  refusedBy: "partial-batch",
  plant(template) {
    delete first(template, "AWS::Lambda::EventSourceMapping").Properties["FunctionResponseTypes"];
  },
});
