/** Loaded before a process of the local system: what ends it is a line for the project's own code, not a stack. */
import { recordLoaded } from "../../loaded-files.ts";
import { rejection } from "../setup/rejected.ts";

recordLoaded();

process.setUncaughtExceptionCaptureCallback((error) => {
  console.error(rejection(error, process.cwd()));
  process.exit(1);
});
