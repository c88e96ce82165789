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
    default:
      return null;
  }
}
