/** A function whose messages say what it shall do. */
export async function handler(
  event: { do: string },
  context: { getRemainingTimeInMillis(): number },
): Promise<unknown> {
  switch (event.do) {
    case "answer":
      return { pid: process.pid, remainingMs: context.getRemainingTimeInMillis() };
    case "throw":
      throw new Error("the function threw");
    case "exit":
      return process.exit(7);
    case "spin":
      for (;;);
    case "hang":
      return new Promise(() => {});
    case "kill":
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => {});
    case "fill":
      for (const all: object[] = []; ;) all.push({ all: all.slice(-1_000) });
    default:
      return null;
  }
}
