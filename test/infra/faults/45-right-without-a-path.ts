import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a worker may write to a service that has no IPv6 name, where there is no IPv4",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to ses .*ses is not called over it/,
  plant(template) {
    const policy = first(template, "AWS::IAM::Policy", /Worker/).Properties;
    const statements = inside(policy, "PolicyDocument")["Statement"] as unknown[];
    statements.push({ Effect: "Allow", Action: "ses:SendEmail", Resource: "arn:aws:ses:eu-west-1:1:identity/a" });
  },
});
