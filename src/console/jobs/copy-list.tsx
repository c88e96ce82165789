import { useState } from "preact/hooks";
import type { JobQuery } from "./filter.ts";
import { Button, copy } from "../parts/index.ts";
import type { JobReply } from "../../api/shape/job.ts";
import { words } from "../language/words.ts";

/** Takes the list elsewhere: its address, the command that prints it, or what is loaded for a spreadsheet. */
export function CopyList({ filter, jobs }: { readonly filter: JobQuery; readonly jobs: readonly JobReply[] }) {
  const [isOpen, setOpen] = useState(false);
  const texts = { link: () => location.href, command: () => commandOf(filter), csv: () => csvOf(jobs) };
  const names = words.jobs.copy;
  return (
    <details class="copy-list" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{names.name}</summary>
      {(isOpen ? (["link", "command", "csv"] as const) : []).map((what) => (
        <Button
          key={what}
          text={names[what]}
          look="small"
          onClick={() => {
            void copy(texts[what]());
            setOpen(false);
          }}
        />
      ))}
    </details>
  );
}

const quoted = (value: string): string => (/^[\w.,:/-]+$/.test(value) ? value : `'${value.replaceAll("'", `'\\''`)}'`);
const optionOf = (field: string): string =>
  field.startsWith("payload.") ? "payload" : field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** The same list on the command line; times are fixed, as they were asked for. */
const commandOf = (filter: JobQuery): string =>
  Object.entries(filter).reduce((text, [field, value]) => {
    const member = field.startsWith("payload.") ? `${field.slice("payload.".length)}=${value}` : value;
    return `${text} --${optionOf(field)} ${quoted(member)}`;
  }, "npx belfry jobs list");

const columns = ["id", "kind", "key", "state", "lane", "attempt", "dueAt", "startedAt", "finishedAt"] as const;

/** A cell that a spreadsheet would take for a formula begins with an apostrophe. */
const cellOf = (value: string): string => `"${value.replace(/^(?=[=+@\t-])/, "'").replaceAll('"', '""')}"`;
const csvOf = (jobs: readonly JobReply[]): string =>
  [columns.join(), ...jobs.map((job) => columns.map((name) => cellOf(String(job[name] ?? ""))).join())].join("\n");
