import type { ComponentChildren } from "preact";
import { useEffect } from "preact/hooks";
import { words } from "../language/words.ts";
import { Button } from "./form.tsx";

export interface CardHead {
  readonly title: string;
  /** Beside the title. */
  readonly about?: ComponentChildren;
}

interface CardProps extends CardHead {
  /** Of the region, where the title says too little. */
  readonly label?: string;
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

type FactList = readonly (readonly [name: ComponentChildren, value: ComponentChildren])[];

/** Each with its name; one that is null is left out. */
export const Facts = ({ of, look = "" }: { readonly of: FactList; readonly look?: string }) => (
  <dl class={`facts ${look}`}>
    {of.map(([name, value], index) =>
      value === null ? null : (
        <div key={index}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ),
    )}
  </dl>
);

interface EmptyProps {
  readonly title: string;
  readonly text?: ComponentChildren;
  readonly children?: ComponentChildren;
  /** Takes away the filter that matches nothing. */
  readonly onClear?: () => void;
}

/** Nothing to show, and what to do about it. */
export const Empty = ({ title, text, onClear, children = text }: EmptyProps) => (
  <div class="empty">
    <p class="empty-title">{title}</p>
    {children === undefined ? null : <div class="empty-text">{children}</div>}
    {onClear === undefined ? null : <Button text={words.filter.clear} onClick={onClear} />}
  </div>
);

interface ScreenHeadProps {
  readonly title: string;
  /** Of the thing that the title names by its kind. */
  readonly id?: string;
  /** Of the browser's tab and history, where the title says too little. */
  readonly tab?: string;
  /** The way back to what it belongs to, the widest first. */
  readonly crumbs?: readonly ComponentChildren[];
  /** Beside the title. */
  readonly children?: ComponentChildren;
}

/** The name of a screen, which its tab has too, and what stands beside it. */
export function ScreenHead({ title, id, crumbs = [], children, ...more }: ScreenHeadProps) {
  const { tab = id === undefined ? title : `${title} ${id}` } = more;
  useEffect(() => {
    document.title = `${tab} · Belfry`;
  }, [tab]);
  return (
    <header class="screen-head">
      <div>
        {crumbs.length === 0 ? null : <p class="crumbs">{crumbs.flatMap((each) => [each, " / "]).slice(0, -1)}</p>}
        <h1>
          {title} {id === undefined ? null : <span class="dim">{`#${id}`}</span>}
        </h1>
      </div>
      {children}
    </header>
  );
}
