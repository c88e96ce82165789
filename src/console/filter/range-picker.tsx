import { useState } from "preact/hooks";
import { currentTime } from "../clock.ts";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { acting, Button, ClockField, clockOf, clockTime, Form, Select } from "../parts/index.ts";
import { timeMode } from "../time.ts";
import { edgesOf, isoTime } from "./range.ts";

interface RangePickerProps {
  /** Which time of a row, and what no range says. */
  readonly of: keyof typeof words.ranges.of;
  /** As a filter writes it; empty for any time. */
  readonly value: string;
  readonly onRange: (value: string) => void;
}

/** The range of a list: the ones that are wanted most in one choice, or two times by the reader's clock. */
export function RangePicker({ of, value, onRange }: RangePickerProps) {
  const { spans, since, between } = words.ranges;
  const [writtenAt, write] = useState<string | null>(null);
  const by = of === "created" ? `${words.job.created}: ` : of === "ended" ? `${words.labels.ended}: ` : "";
  const chosen = Object.entries({ ...spans, since, between }).map(([span, text]) => [span, `${by}${text}`] as const);
  const among = { "": words.ranges.of[of], ...Object.fromEntries(chosen) };
  const isWriting = writtenAt === value || !Object.hasOwn(among, value);
  const choose = (span: string): void => {
    write(span === "between" ? value : null);
    if (span === "since") void sinceRelease(onRange);
    else if (span !== "between") onRange(span);
  };
  const isUtc = timeMode.value === "utc";
  const send = (written: string): void => {
    write(null);
    onRange(written);
  };
  return (
    <>
      <Select
        label={words.ranges.of[of]}
        of={Object.entries(among)}
        value={isWriting ? "between" : value}
        onChoose={choose}
      />
      {isWriting ? <Between key={`${value} ${isUtc}`} {...{ value, isUtc }} onRange={send} /> : null}
    </>
  );
}

interface BetweenProps extends Pick<RangePickerProps, "value" | "onRange"> {
  readonly isUtc: boolean;
}

function Between({ value, isUtc, onRange }: BetweenProps) {
  const [[from = "", to = ""], write] = useState(() =>
    (edgesOf(value, currentTime()) ?? [null, null]).map((at) => clockOf(at, isUtc)),
  );
  const at = (text = ""): string => (text === "" ? "" : isoTime(clockTime(text, isUtc)));
  const send = (): void => onRange(`${from}${to}` === "" ? "" : `${at(from)}..${at(to)}`);
  return (
    <Form look="line range" onSend={send}>
      <ClockField name={words.backfill.from} value={from} isOptional onWrite={(next) => write([next, to])} />
      <ClockField name={words.backfill.to} value={to} isOptional onWrite={(next) => write([from, next])} />
      <Button text={words.shared.show} look="small" />
    </Form>
  );
}

/** The newest one, as a time: a link shows the same list after the next. */
const sinceRelease = (onRange: (value: string) => void): Promise<void> =>
  acting(words.ranges.noRelease, async () => {
    const { audits } = await ask("GET /audits", { caller: "deployment", limit: 1 });
    const [release] = audits;
    if (release === undefined) throw new Error("");
    onRange(`${release.at}..`);
  });
