import app from "../../../examples/dag-batch/app.ts";

export default [app];
