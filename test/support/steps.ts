/** How the checks that are programs of their own (`deploy:emulator`, `image`, `smoke:aws`) tell what they do. */

/** @returns what `act` did; a text is shown. */
export async function step<T>(name: string, act: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    const result = await act();
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    console.log(`ok      ${name} (${seconds} s)${typeof result === "string" && result !== "" ? `: ${result}` : ""}`);
    return result;
  } catch (error) {
    console.log(`FAILED  ${name}`);
    throw error;
  }
}

/** Says how it ended, as `.ci/run` counts it. @returns the exit code. */
export async function passOrFail(work: () => Promise<void>): Promise<0 | 1> {
  try {
    await work();
    console.log("1 passed, 0 failed");
    return 0;
  } catch (error) {
    console.error(error);
    console.log("0 passed, 1 failed");
    return 1;
  }
}
