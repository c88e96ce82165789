import type { ComponentChildren } from "preact";

interface FormProps {
  readonly look?: string;
  readonly onSend: () => void;
  readonly children: ComponentChildren;
}

/** A form whose page stays. */
export const Form = ({ look = "", onSend, children }: FormProps) => (
  <form
    class={look}
    onSubmit={(event) => {
      event.preventDefault();
      onSend();
    }}
  >
    {children}
  </form>
);
