import type { ComponentChildren } from "preact";

interface EmptyProps {
  readonly title: string;
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Nothing to show, and what to do about it. */
export const Empty = ({ title, text, children = text }: EmptyProps) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children === undefined ? null : <div class="empty-text">{children}</div>}
  </div>
);
