import { defineFault } from "./fault.ts";

export default defineFault({
  name: "the passes ask for a capacity that the cluster does not have",
  refusedBy: "spare-capacity",
  at: "Scheduler/Wake-pass",
  saying: /FARGATE_SPOT/,
  plant(template) {
    for (const [id, { Type }] of Object.entries(template.Resources)) {
      if (Type === "AWS::ECS::ClusterCapacityProviderAssociations") delete template.Resources[id];
    }
  },
});
