import type { ComponentChildren } from "preact";

/** Nothing to show, and what to do about it. */
export const Empty = ({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children === undefined ? null : <div class="empty-text">{children}</div>}
  </div>
);
