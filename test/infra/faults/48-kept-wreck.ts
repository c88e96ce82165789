import { defineFault } from "./fault.ts";

export default defineFault({
  name: "a queue is kept also when the deployment that makes it fails",
  refusedBy: "first-deployment",
  at: "Lane-default",
  saying: /Retain/,
  plant(template) {
    const [queue] = Object.entries(template.Resources).filter(([id]) => /Lanedefault.*Queue/.test(id));
    if (queue !== undefined) queue[1].DeletionPolicy = "Retain";
  },
});
