import { defineFault, first, inside } from "./fault.ts";

export default defineFault({
  name: "the API connects as the workers do, without a limit of its own",
  refusedBy: "api-connections",
  at: "Http/Api",
  plant(template) {
    const worker = first(template, "AWS::Lambda::Function", /Worker/).Properties;
    const api = inside(first(template, "AWS::Lambda::Function", /HttpApi/).Properties, "Environment", "Variables");
    api["DATABASE_URL"] = inside(worker, "Environment", "Variables")["DATABASE_URL"];
  },
});
