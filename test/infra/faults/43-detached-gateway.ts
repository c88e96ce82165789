import { defineFault } from "./fault.ts";

export default defineFault({
  name: "the internet gateway is attached to no VPC",
  refusedBy: "reachability",
  at: "Scheduler/Task",
  saying: /no path to ecr .*is attached to no VPC/,
  plant(template) {
    for (const [id, { Type }] of Object.entries(template.Resources)) {
      if (Type === "AWS::EC2::VPCGatewayAttachment") delete template.Resources[id];
    }
  },
});
