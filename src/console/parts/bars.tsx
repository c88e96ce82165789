import { numberText } from "../language/number.ts";
import { Time } from "./time.tsx";

export interface Bar {
  /** Read out under the pointer. */
  readonly title: string;
  /** From the ground up, each with a colour of the style sheet: `success`, `failed`. */
  readonly parts: readonly { readonly fill: string; readonly value: number }[];
}

interface BarsProps {
  readonly label: string;
  readonly bars: readonly Bar[];
  /** ISO 8601. */
  readonly from: string;
  readonly to: string;
}

const sumOf = ({ parts }: Bar): number => parts.reduce((sum, { value }) => sum + value, 0);
const quarters = [0, 1, 2, 3, 4];

/** Amounts over time, stacked, on one scale with the largest named. */
export function Bars({ label, bars, from, to }: BarsProps) {
  const most = Math.max(4, ...bars.map(sumOf));
  const [begin, end] = [Date.parse(from), Date.parse(to)];
  return (
    <>
      <div class="bars" role="img" aria-label={label}>
        <span class="bars-most">{numberText(most)}</span>
        {bars.map((bar, index) => (
          <span key={index} class="bar" title={bar.title}>
            {bar.parts.map(({ fill, value }) =>
              value === 0 ? null : (
                <i key={fill} class={`fill-${fill}`} style={{ height: `${(value / most) * 100}%` }} />
              ),
            )}
          </span>
        ))}
      </div>
      <p class="bars-scale">
        {quarters.map((quarter) => (
          <Time key={quarter} at={new Date(begin + ((end - begin) * quarter) / 4).toISOString()} />
        ))}
      </p>
    </>
  );
}
