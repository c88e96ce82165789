interface SelectProps {
  /** Read out; left out where a label stands around it. */
  readonly label?: string;
  /** Each value with its words. */
  readonly of: readonly (readonly [value: string, text: string])[];
  readonly value: string;
  readonly onChoose: (value: string) => void;
  readonly look?: string;
  readonly isRequired?: boolean;
}

export const Select = ({ label, of, value, onChoose, look = "select", isRequired = false }: SelectProps) => (
  <select
    class={look}
    aria-label={label}
    required={isRequired}
    value={value}
    onChange={({ currentTarget }) => onChoose(currentTarget.value)}
  >
    {of.map(([each, text]) => (
      <option key={each} value={each}>
        {text}
      </option>
    ))}
  </select>
);
