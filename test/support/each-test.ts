import { beforeEach, onTestFinished } from "vitest";

/**
 * What `open` gives each test of the surrounding `describe`. Outside of a test its members can be taken apart: a member that is read
 * or called is that of the test which runs. To spread it, spy on it or compare it, take it inside the test.
 */
export function eachTest<T extends object>(open: () => Promise<T>): T {
  let current: T | null = null;
  beforeEach(async () => {
    current = await open();
    onTestFinished(() => {
      current = null;
    });
  });
  const memberNow = (name: PropertyKey): unknown => {
    if (current === null) throw new Error(`${String(name)} exists only inside a test`);
    return Reflect.get(current, name);
  };
  const later = (name: PropertyKey): unknown =>
    new Proxy(() => {}, {
      get: (_, inner) => {
        const member = memberNow(name) as object;
        const value: unknown = Reflect.get(member, inner);
        return typeof value === "function" ? (value.bind(member) as unknown) : value;
      },
      set: () => false,
      apply: (_, __, given) => (memberNow(name) as (...all: unknown[]) => unknown)(...given),
    });
  return new Proxy({} as T, { get: (_, name) => (current === null ? later(name) : memberNow(name)) });
}
