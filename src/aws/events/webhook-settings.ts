import { z } from "zod";
import { isLoopback } from "../../outside/outside-address.ts";

/** Events name keys and errors, so they leave this machine encrypted. */
export const webhookAddress = z
  .string()
  .refine(mayGetEvents, "must be an https URL; http is taken for addresses of this machine alone");

function mayGetEvents(address: string): boolean {
  const { protocol } = URL.parse(address) ?? {};
  return protocol === "https:" || (protocol === "http:" && isLoopback(address));
}

const secretCharactersMin = 16;
const secretRule = `must be at least ${secretCharactersMin} characters, or two such secrets with a comma between them; it signs what is sent`;
/** While a secret is exchanged there are two, and what is sent has a signature under each. */
export const webhookSecrets = z
  .string()
  .transform((text) => text.split(","))
  .pipe(z.array(z.string().min(secretCharactersMin, secretRule)).max(2, secretRule));
