import { numberText } from "../language/number.ts";
import { Axis, type TimeScale } from "./axis.tsx";

interface BarsProps {
  readonly label: string;
  readonly values: readonly number[];
  /** Of a value, read out under the pointer. */
  readonly titleOf: (value: number) => string;
  readonly span: TimeScale;
}

/** Amounts over time on one scale, with the largest named. */
export function Bars({ label, values, titleOf, span }: BarsProps) {
  const most = Math.max(4, ...values);
  return (
    <>
      <div class="bars" role="img" aria-label={label}>
        <span class="bars-most">{numberText(most)}</span>
        {values.map((value, index) => (
          <i key={index} class="bar" title={titleOf(value)} style={{ "--height": `${(value / most) * 100}%` }} />
        ))}
      </div>
      <Axis span={span} />
    </>
  );
}
