import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "subnets are in a zone that CDK made up",
  refusedBy: "zone-names",
  plant(template) {
    first(template, "AWS::EC2::Subnet").Properties["AvailabilityZone"] = "dummy1a";
  },
});
