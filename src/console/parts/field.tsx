import type { ComponentChildren } from "preact";

interface FieldProps {
  readonly name: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly children: ComponentChildren;
}

/** A field of a form with its name above it, and what may stand in it below. */
export const FormField = ({ name, hint = "", isRequired = false, children }: FieldProps) => (
  <label class="form-field">
    <span>
      {name}
      {isRequired ? <span aria-hidden="true"> *</span> : null}
    </span>
    {children}
    {hint === "" ? null : <span class="small">{hint}</span>}
  </label>
);

interface TextFieldProps extends Omit<FieldProps, "children"> {
  readonly value: string;
  readonly onWrite: (value: string) => void;
  /** What else the browser may know of it. */
  readonly own?: Readonly<Record<string, unknown>>;
}

export const TextField = ({ value, onWrite, own = {}, ...field }: TextFieldProps) => (
  <FormField {...field}>
    <input
      class="field"
      required={field.isRequired}
      value={value}
      onInput={({ currentTarget }) => onWrite(currentTarget.value)}
      {...own}
    />
  </FormField>
);
