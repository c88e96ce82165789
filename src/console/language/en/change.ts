/** A payload as it is written by hand. */
const payload = {
  title: "Payload",
  none: "This kind takes no payload.",
  noJson: "The payload is not JSON: check quotes and commas.",
  wrong: (fields: string) => `Not a value: ${fields}`,
  asJson: "Write it as JSON",
};

/** A new job. */
const enqueue = {
  open: "Enqueue a job",
  title: "Enqueue a job",
  action: "Enqueue the job",
  kind: "Kind",
  key: "Key",
  keyHint: "A second job with the same key is not made.",
  delay: "Delay",
  delayHint: "10m, 2h; empty: now",
  done: (job: string) => `${job}: enqueued`,
  existed: (job: string) => `${job} has this key already; nothing was enqueued`,
  copyTitle: (kind: string) => `New ${kind} with another payload`,
  copyText: (id: string) => `Job ${id} stays as it is. The key of the new one names it.`,
};

/** How many jobs of a kind run at once. */
const caps = {
  open: (kind: string) => `Change the cap of ${kind}`,
  change: "Change",
  title: (kind: string) => `Cap of ${kind}`,
  action: "Change the cap",
  size: "Jobs at once",
  hint: "It holds until the next release brings its own number.",
  changed: (kind: string, size: string) => `${kind}: at most ${size} at once`,
};

export const enChange = { payload, enqueue, caps };
