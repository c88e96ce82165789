import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a container may write to its root file system",
  refusedBy: "read-only-root",
  plant(template) {
    inside(first(template, "AWS::ECS::TaskDefinition").Properties, "ContainerDefinitions", 0)[
      "ReadonlyRootFilesystem"
    ] = false;
  },
});
