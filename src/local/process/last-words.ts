/** Loaded before a process of the local system: what ends it is told in a line for the project's own code, not in a stack. */
import { rejection } from "../setup/rejected.ts";

process.setUncaughtExceptionCaptureCallback((error) => {
  console.error(rejection(error, process.cwd()));
  process.exit(1);
});
