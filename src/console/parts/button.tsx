interface ButtonProps {
  readonly text: string;
  /** Further classes: `small`, `primary`, `danger`. */
  readonly look?: string;
  /** Without it the form is sent. */
  readonly onClick?: (() => void) | undefined;
  /** Read out instead of the text, where several say the same. */
  readonly label?: string;
  readonly disabled?: boolean;
}

export const Button = ({ text, look = "", onClick, label, disabled = false }: ButtonProps) => (
  <button
    type={onClick === undefined ? "submit" : "button"}
    class={`button ${look}`}
    {...{ onClick, disabled, "aria-label": label }}
  >
    {text}
  </button>
);
