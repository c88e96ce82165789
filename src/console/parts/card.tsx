import type { ComponentChildren } from "preact";

interface CardProps {
  readonly title: string;
  /** Of the region, where the title says too little. */
  readonly label?: string;
  /** Beside the title. */
  readonly about?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a screen under its title. */
export const Card = ({ title, label, about, children }: CardProps) => (
  <section class="card" aria-label={label ?? title}>
    <header class="line card-head">
      <h2>{title}</h2>
      {about === undefined ? null : typeof about === "string" ? <span class="dim">{about}</span> : about}
    </header>
    {children}
  </section>
);
