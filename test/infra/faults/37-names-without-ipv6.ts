import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a function calls AWS's services by names that have IPv4 only",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to sqs .*AWS_USE_DUALSTACK_ENDPOINT/,
  plant(template) {
    const { Properties } = first(template, "AWS::Lambda::Function", /Worker/);
    delete inside(Properties, "Environment", "Variables")["AWS_USE_DUALSTACK_ENDPOINT"];
  },
});
