import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "a function's environment has the password of the database",
  refusedBy: "no-password",
  plant(template) {
    const { Properties } = first(template, "AWS::Lambda::Function", /Worker/);
    inside(Properties, "Environment", "Variables")["DATABASE_URL"] =
      "{{resolve:secretsmanager:belfry:SecretString:url}}";
  },
});
