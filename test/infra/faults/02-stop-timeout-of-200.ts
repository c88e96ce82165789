import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a container has 200 s to stop, more than Fargate allows",
  refusedBy: "stop-timeout",
  plant(template) {
    inside(first(template, "AWS::ECS::TaskDefinition").Properties, "ContainerDefinitions", 0)["StopTimeout"] = 200;
  },
});
