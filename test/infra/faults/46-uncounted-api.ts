import { defineFault, inside } from "./fault.ts";

export default defineFault({
  name: "nothing counts the connections of the API",
  refusedBy: "connections",
  saying: /of the API are not counted/,
  plant(template) {
    delete inside(template.Metadata, "Belfry", "belfry-smoke/Belfry")["ApiConnections"];
  },
});
