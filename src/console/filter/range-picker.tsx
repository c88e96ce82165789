import { useState } from "preact/hooks";
import { currentTime } from "../clock.ts";
import { ask } from "../http.ts";
import { words } from "../language/words.ts";
import { acting, Button, ClockField, clockOf, clockTime, Form, Select } from "../parts/index.ts";
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
  const [isWriting, setWriting] = useState(false);
  const among = { "": words.ranges.of[of], ...spans, since, between };
  const isNamed = Object.hasOwn(among, value);
  const choose = (chosen: string): void => {
    setWriting(chosen === "between");
    if (chosen === "since") void sinceRelease(onRange);
    else if (chosen !== "between") onRange(chosen);
  };
  return (
    <>
      <Select
        label={words.ranges.of[of]}
        of={Object.entries(among)}
        value={isWriting || !isNamed ? "between" : value}
        onChoose={choose}
      />
      {isWriting || !isNamed ? <Between key={value} value={value} onRange={onRange} /> : null}
    </>
  );
}

function Between({ value, onRange }: Pick<RangePickerProps, "value" | "onRange">) {
  const [[from = "", to = ""], write] = useState(() => (edgesOf(value, currentTime()) ?? [null, null]).map(clockOf));
  const at = (text = ""): string => (text === "" ? "" : isoTime(clockTime(text)));
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
