import { defineFault, first } from "./fault.ts";

export default defineFault({
  name: "a lane's queue shows a message again before its function could have timed out",
  refusedBy: "visibility",
  plant(template) {
    first(template, "AWS::SQS::Queue", /Lane.*Queue/).Properties["VisibilityTimeout"] = 60;
  },
});
