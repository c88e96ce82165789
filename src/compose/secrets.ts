import { readSecret, type SecretPlaces } from "../aws/secrets.ts";

/** The secrets of one process, read when it starts. */
export interface Secrets {
  get(name: string): string | undefined;
  /**
   * Reads them again when they are older than `freshMs`, so that a rotated one reaches a process that lives on. Keeps what it
   * has when that fails. @returns what went wrong.
   */
  refresh(): Promise<unknown>;
}

const freshMs = 300_000;

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Values by reference where a deployment names them (`BELFRY_SECRETS`); others are in the environment under their own names,
 * as `.env` and the shell have them. @throws Error naming the reference that could not be read.
 */
export async function openSecrets(
  references: Readonly<Record<string, string>>,
  places: SecretPlaces,
  environment: Environment,
): Promise<Secrets> {
  let values = await readAll(references, places);
  let readAt = performance.now();
  return {
    get: (name) => values.get(name) ?? environment[name],
    async refresh() {
      if (performance.now() - readAt < freshMs) return null;
      readAt = performance.now();
      try {
        values = await readAll(references, places);
        return null;
      } catch (error) {
        return error;
      }
    },
  };
}

async function readAll(
  references: Readonly<Record<string, string>>,
  places: SecretPlaces,
): Promise<ReadonlyMap<string, string>> {
  const read = Object.entries(references).map(
    async ([name, reference]) => [name, await readSecret(reference, places)] as const,
  );
  return new Map(await Promise.all(read));
}
