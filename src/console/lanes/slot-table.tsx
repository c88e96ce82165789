import { acting, answerTo, Button, column, JobLink, say, TableCard, Time } from "../parts/index.ts";
import { ask } from "../http.ts";
import { numberText } from "../language/number.ts";
import type { SlotUseReply } from "../../insight/slots.ts";
import { words } from "../language/words.ts";

const shownHolders = 4;

interface SlotTableProps {
  readonly title: string;
  readonly slots: readonly SlotUseReply[];
  /** Of caps, which may be changed here. */
  readonly onDone?: () => void;
}

/** Slots in use, who holds them, and how many wait. */
export const SlotTable = ({ title, slots, onDone }: SlotTableProps) => (
  <TableCard
    title={title}
    look="stacks"
    rows={slots}
    idOf={({ key }) => key}
    columns={[
      column.text<SlotUseReply>(words.lanes.slots, "key", { class: "mono wide" }),
      {
        name: words.lanes.inUse,
        isNamed: true,
        by: ({ taken, size }) => taken / size,
        cell: ({ taken, size }) => (
          <>
            <progress max={size} value={taken} aria-label={words.lanes.inUseOf(taken, size)} />
            <span class="number">{` ${taken}/${size}`}</span>
          </>
        ),
      },
      column.number<SlotUseReply>(words.lanes.columns.waiting, "waiting"),
      { name: words.lanes.heldBy, class: "wide", isNamed: true, cell: ({ holders }) => <Holders of={holders} /> },
      column.actions<SlotUseReply>(({ key, size }) => {
        const [, kind] = /^cap:([^#]*)$/.exec(key) ?? [];
        return onDone === undefined || kind === undefined ? null : (
          <Button
            text={words.caps.change}
            look="small"
            onClick={() => void changeCap(kind, size, onDone)}
            label={words.caps.open(kind)}
          />
        );
      }),
    ]}
  />
);

const Holders = ({ of }: { readonly of: SlotUseReply["holders"] }) => (
  <>
    {of.slice(0, shownHolders).map(({ job, kind, since }) => (
      <span key={job} class="holder">
        <JobLink id={job} kind={kind ?? words.shared.job} />{" "}
        <span class="dim">{words.schedules.since(<Time at={since} />)}</span>
      </span>
    ))}
    {of.length > shownHolders ? <span class="dim">{words.many.more(of.length - shownHolders)}</span> : null}
  </>
);

/** Until the next release brings its own number. */
async function changeCap(kind: string, before: number, onDone: () => void): Promise<void> {
  const { open, hint: text, size: name, action } = words.caps;
  const fields = [{ id: "size", name, hint: numberText(before) }];
  const { size = "" } = (await answerTo({ title: open(kind), text, fields, action })) ?? {};
  if (size === "") return;
  await acting(words.shared.notChanged(kind), async () => {
    await ask("PUT /caps/:kind", { kind }, { body: { size: Number(size) } });
    say(words.caps.changed(kind, size));
  });
  onDone();
}
