import { afterAll, beforeAll, expect, test } from "vitest";
import { openServer } from "./run.ts";
import { tours } from "./tours.ts";

let server: Awaited<ReturnType<typeof openServer>> | null = null;

beforeAll(async () => {
  server = await openServer();
});

afterAll(async () => {
  await server?.close();
});

test.each(tours)(
  "each statement of the tour $name answers and writes, row for row, what its file in tours says",
  { timeout: 300_000 },
  async (tour) => {
    await expect(await server?.run(tour)).toMatchFileSnapshot(`./tours/${tour.name}.txt`);
  },
);
