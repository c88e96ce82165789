interface TabsProps<T extends string> {
  readonly label: string;
  readonly among: readonly { readonly value: T; readonly name: string }[];
  readonly value: T;
  readonly onChoose: (value: T) => void;
}

/** One of a few, each a button. */
export const Tabs = <T extends string>({ label, among, value, onChoose }: TabsProps<T>) => (
  <div class="tabs" role="group" aria-label={label}>
    {among.map((each) => (
      <button key={each.value} type="button" aria-pressed={each.value === value} onClick={() => onChoose(each.value)}>
        {each.name}
      </button>
    ))}
  </div>
);
