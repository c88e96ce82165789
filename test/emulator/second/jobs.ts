import { defineApp, defineJob } from "belfry";
import { z } from "zod";

const hello = defineJob({ id: "hello", run: () => {} });

const pay = defineJob({
  id: "pay",
  seal: "payroll",
  payload: z.object({ to: z.string() }),
  run: ({ to }) => ({ paid: to }),
});

export default defineApp({ name: "payroll", jobs: [hello, pay] });
