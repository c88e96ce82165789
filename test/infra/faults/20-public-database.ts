import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the database has a public address",
  refusedBy: "private-database",
  plant(template) {
    first(template, "AWS::RDS::DBInstance").Properties["PubliclyAccessible"] = true;
  },
});
