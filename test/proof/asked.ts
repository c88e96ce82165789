/**
 * Loaded before everything else: definitions read these settings when their files are loaded, in this process too, since
 * what it enqueues carries their leases and slots.
 */
const args = process.argv.slice(2);
if (args.includes("--defaults")) process.env["BELFRY_PROOF_DEFAULTS"] = "1";
const at = args.findIndex((arg) => arg === "--without" || arg.startsWith("--without="));
const guard = at < 0 ? undefined : (args[at]?.split("=")[1] ?? args[at + 1]);
if (guard !== undefined) process.env["BELFRY_PROOF_WITHOUT"] = guard;
