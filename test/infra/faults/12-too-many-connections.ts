import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a lane's workers alone use up the database's connections",
  refusedBy: "connections",
  plant(template) {
    inside(first(template, "AWS::Lambda::EventSourceMapping").Properties, "ScalingConfig")["MaximumConcurrency"] = 200;
  },
});
