import { text } from "node:stream/consumers";
import { CliError, exitCodes } from "./exit.ts";

/** The payload of the command line as JSON; `-` reads stdin. Nothing given: no payload. @throws CliError */
export async function readPayload(argument: string | undefined): Promise<{ payload?: unknown }> {
  if (argument === undefined) return {};
  const json = argument === "-" ? await text(process.stdin) : argument;
  try {
    return { payload: JSON.parse(json) };
  } catch (error) {
    const shown = json.length > 60 ? `${json.slice(0, 60)}...` : json;
    throw new CliError(exitCodes.usage, "bad-json", `the payload is not JSON: ${shown}`, [
      error instanceof Error ? error.message : String(error),
      `write it in single quotes: '{"name":"Ada"}'`,
    ]);
  }
}
