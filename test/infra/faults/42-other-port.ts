import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the database's group lets the processes in at another port",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to database/,
  plant(template) {
    Object.assign(first(template, "AWS::EC2::SecurityGroupIngress", /Server/).Properties, {
      FromPort: 5433,
      ToPort: 5433,
    });
  },
});
