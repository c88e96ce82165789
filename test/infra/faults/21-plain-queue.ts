import { defineFault } from "./fault.ts";

export default defineFault({
  name: "a queue takes connections without TLS",
  refusedBy: "AwsSolutions-SQS4",
  plant(template) {
    for (const [id, { Type }] of Object.entries(template.Resources)) {
      if (Type === "AWS::SQS::QueuePolicy" && /LaneDefaultQueue|LanedefaultQueue/.test(id))
        delete template.Resources[id];
    }
  },
});
