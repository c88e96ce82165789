const kept = ["PATH", "NODE_COMPILE_CACHE"].map((name) => [name, process.env[name] ?? ""]);

/** For processes that a test starts: nothing of the environment in which the tests run, but where compiled code is kept. */
export const bareEnvironment: Readonly<Record<string, string>> = Object.fromEntries(kept);
