import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "Lambda stops a worker after 16 jobs that enqueue the next one",
  refusedBy: "own-messages",
  at: "Lane-default/Worker",
  plant(template) {
    delete first(template, "AWS::Lambda::Function", /LanedefaultWorker/).Properties["RecursiveLoop"];
  },
});
