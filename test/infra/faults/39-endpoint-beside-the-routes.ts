import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the gateway endpoint of DynamoDB is not on the private subnets' routes",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to dynamodb \(endpoint: .* is not on the routes/,
  plant(template) {
    first(template, "AWS::EC2::VPCEndpoint", /DynamoDB/).Properties["RouteTableIds"] = [];
  },
});
