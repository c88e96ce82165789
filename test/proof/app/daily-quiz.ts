import app from "../../../examples/daily-quiz/app.ts";

export default [app];
