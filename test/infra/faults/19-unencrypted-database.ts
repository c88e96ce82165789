import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the database's disk is not encrypted",
  refusedBy: "AwsSolutions-RDS2",
  plant(template) {
    first(template, "AWS::RDS::DBInstance").Properties["StorageEncrypted"] = false;
  },
});
