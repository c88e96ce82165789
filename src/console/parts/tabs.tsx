import type { ComponentChildren } from "preact";

interface TabsProps<T extends string> {
  readonly label: string;
  readonly among: readonly {
    readonly value: T;
    readonly name: ComponentChildren;
    /** How many it would show. */
    readonly count?: string | undefined;
    readonly look?: string;
  }[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}

/** One of a few, each a button. */
export const Tabs = <T extends string>({ label, among, value, onChoose }: TabsProps<T>) => (
  <div class="tabs" role="group" aria-label={label}>
    {among.map((each) => (
      <button
        key={each.value}
        type="button"
        class={each.look}
        aria-pressed={each.value === value}
        onClick={() => onChoose(each.value)}
      >
        {each.name}
        {each.count === undefined ? null : <span class="tab-count">{each.count}</span>}
      </button>
    ))}
  </div>
);
