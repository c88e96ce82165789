/**
 * Loaded into a process (`--import`) to give it a wrong wall clock: `BELFRY_PROOF_SKEW_MS` says by how much, and with
 * `BELFRY_PROOF_SKEW_STEP_EVERY_MS` it steps by that much again and again. Monotonic time is left alone, as a
 * host's wrong clock leaves it.
 */
const skewMs = Number(process.env["BELFRY_PROOF_SKEW_MS"] ?? 0);
const stepEveryMs = Number(process.env["BELFRY_PROOF_SKEW_STEP_EVERY_MS"] ?? 0);
const RealDate = Date;

/** A stepping clock is wrong by that much more at each step. */
function wrongNow(): number {
  const steps = stepEveryMs === 0 ? 1 : 1 + Math.floor(performance.now() / stepEveryMs);
  return RealDate.now() + skewMs * steps;
}

class WrongDate extends RealDate {
  constructor(...given: readonly unknown[]) {
    // The many forms of the constructor go on as they are; only the one that asks what time it is differs.
    super(...((given.length === 0 ? [wrongNow()] : given) as [number]));
  }
  static override now(): number {
    return wrongNow();
  }
}

globalThis.Date = new Proxy(WrongDate, { apply: () => new WrongDate().toString() }) as unknown as DateConstructor;
if (process.argv[1] !== undefined) process.stdout.write(`wall clock off by ${Date.now() - RealDate.now()} ms\n`);
