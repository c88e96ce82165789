/** Settings of this machine: variables in `.env` of the current folder, for what the shell does not set itself. */
export function readEnvFile(): void {
  try {
    process.loadEnvFile(".env");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}
