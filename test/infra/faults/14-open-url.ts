import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "the API's URL answers anybody",
  refusedBy: "signed-url",
  plant(template) {
    first(template, "AWS::Lambda::Url").Properties["AuthType"] = "NONE";
  },
});
