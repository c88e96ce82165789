import { expect, test } from "vitest";
import { gathered, type GatheredOptions } from "../../src/api/gathered.ts";
import { operationsLimits } from "../../src/core/ports/operations-limits.ts";

const { gatheredRowsMax: rows, gatheredBytesMax: bytes } = operationsLimits;

/** Work that answers when the test says so. */
function held(options: GatheredOptions<number> = {}) {
  const calls: { some: readonly number[]; ended: PromiseWithResolvers<readonly string[]> }[] = [];
  const ask = gathered<number, string>((some) => {
    const ended = Promise.withResolvers<readonly string[]>();
    calls.push({ some, ended });
    return ended.promise;
  }, options);
  const answer = async (at: number): Promise<void> => {
    calls[at]?.ended.resolve(calls[at].some.map((one) => `answer ${one}`));
    await settled();
  };
  const fail = async (at: number, error: Error): Promise<void> => {
    calls[at]?.ended.reject(error);
    await settled();
  };
  return { ask, answer, fail, asked: () => calls.map(({ some }) => some) };
}

/** Every promise that can go on has gone on. */
const settled = (): Promise<void> => new Promise((done) => setImmediate(done));

const outcome = (promise: Promise<string>): Promise<string> => promise.catch((error: Error) => error.message);

test("what comes while a call is under way goes into the next one, each with its own answer", async () => {
  const { ask, answer, asked } = held();
  const answers = [1, 2, 3].map((one) => ask(one));
  expect(asked()).toEqual([[1]]);
  await answer(0);
  expect(asked()).toEqual([[1], [2, 3]]);
  answers.push(ask(4));
  expect(asked()).toHaveLength(2);
  await answer(1);
  await answer(2);
  expect(asked()).toEqual([[1], [2, 3], [4]]);
  expect(await Promise.all(answers)).toEqual(["answer 1", "answer 2", "answer 3", "answer 4"]);
  // And it begins again once nothing is under way.
  const last = ask(5);
  await answer(3);
  expect(await last).toBe("answer 5");
});

test("a call has a limit of rows", async () => {
  const { ask, answer, asked } = held();
  const answers = Array.from({ length: rows + 2 }, (_, n) => ask(n));
  await answer(0);
  await answer(1);
  await answer(2);
  expect(asked().map(({ length }) => length)).toEqual([1, rows, 1]);
  expect(await Promise.all(answers)).toHaveLength(rows + 2);
});

test.each([
  ["exactly full", [bytes / 2, bytes / 2, 1], [2, 1]],
  ["full with one", [bytes, 1], [1, 1]],
  ["too large for any call", [bytes + 1, 1], [1, 1]],
  ["too large behind others", [1, bytes + 1, 1], [1, 1, 1]],
  ["never full", [1, 1, 1], [3]],
])("a call has a limit of bytes, but at least one row: %s", async (_, sizes, lengths) => {
  const { ask, answer, asked } = held({ bytesOf: (size) => size });
  const answers = [0, ...sizes].map((size) => ask(size));
  for (let at = 0; at <= lengths.length; at += 1) await answer(at);
  expect(asked().map(({ length }) => length)).toEqual([1, ...lengths]);
  expect(await Promise.all(answers)).toHaveLength(sizes.length + 1);
});

test("rows are limited beside bytes", async () => {
  const { ask, answer, asked } = held({ bytesOf: () => 1 });
  void Promise.all(Array.from({ length: rows + 2 }, (_, n) => ask(n)));
  await answer(0);
  expect(asked()[1]).toHaveLength(rows);
});

test("after an error that one of them may have caused, each is repeated alone; after another, each has it", async () => {
  const { ask, answer, fail, asked } = held({
    isOfOne: ({ message }: Error) => message === "mine",
  } as GatheredOptions<number>);
  const answers = [1, 2, 3].map((one) => outcome(ask(one)));
  await answer(0);
  await fail(1, new Error("mine"));
  await fail(2, new Error("mine"));
  await answer(3);
  expect(asked()).toEqual([[1], [2, 3], [2], [3]]);
  expect(await Promise.all(answers)).toEqual(["answer 1", "mine", "answer 3"]);
  const others = [4, 5, 6].map((one) => outcome(ask(one)));
  await answer(4);
  await fail(5, new Error("away"));
  expect(asked().slice(4)).toEqual([[4], [5, 6]]);
  expect(await Promise.all(others)).toEqual(["answer 4", "away", "away"]);
});

test("without a rule for errors nothing is repeated", async () => {
  const { ask, answer, fail, asked } = held();
  const answers = [1, 2, 3].map((one) => outcome(ask(one)));
  await answer(0);
  await fail(1, new Error("mine"));
  expect(asked()).toHaveLength(2);
  expect(await Promise.all(answers)).toEqual(["answer 1", "mine", "mine"]);
});
