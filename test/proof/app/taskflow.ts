import app from "../../../examples/taskflow/app.ts";

export default [app];
