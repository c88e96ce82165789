import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "a log group keeps its lines for ever",
  refusedBy: "log-retention",
  plant(template) {
    delete first(template, "AWS::Logs::LogGroup").Properties["RetentionInDays"];
  },
});
