import { defineFault } from "./fault.ts";

export default defineFault({
  name: "the database's group does not let the processes in",
  refusedBy: "reachability",
  at: "Worker",
  saying: /no path to database/,
  plant(template) {
    for (const [id, { Type }] of Object.entries(template.Resources)) {
      if (Type === "AWS::EC2::SecurityGroupIngress" && /Server/.test(id)) delete template.Resources[id];
    }
  },
});
