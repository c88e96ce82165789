/** Loaded before a process of the local system: what ends it is a line for the project's own code, not a stack. */
import { recordLoaded, replayModules } from "../../stage/loaded-files.ts";
import { readCode, rejection } from "../code.ts";
import { collectOnce } from "./collect-once.ts";

const file = process.env["BELFRY_CODE"];
const code = file === undefined ? null : readCode(file);
if (code === null) recordLoaded();
else replayModules(code);

collectOnce();
process.setUncaughtExceptionCaptureCallback((error) => {
  console.error(rejection(error, process.cwd()));
  process.exit(1);
});
