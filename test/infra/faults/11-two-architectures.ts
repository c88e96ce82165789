import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the task has another architecture than the functions and the image",
  refusedBy: "one-architecture",
  plant(template) {
    inside(first(template, "AWS::ECS::TaskDefinition").Properties, "RuntimePlatform")["CpuArchitecture"] = "X86_64";
  },
});
