import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

interface PictureProps {
  readonly look: string;
  /** How to read it, until something in it is pointed at. */
  readonly how: string;
  readonly style?: Readonly<Record<string, string>>;
  readonly children: ComponentChildren;
}

/** A table whose rows are drawn as links: arrow keys walk them, and a line below says which one has the pointer or the focus. */
export function Picture({ look, how, style = {}, children }: PictureProps) {
  const [said, setSaid] = useState<string | null>(null);
  const say = ({ target }: Event): void => {
    if (target instanceof HTMLElement && target.matches(linked)) setSaid(target.ariaLabel);
  };
  return (
    <div class={look} style={style} onKeyDown={moveAmongLinks} onPointerOver={say} onFocusIn={say}>
      {children}
      <p class="form-lead small" role="status">
        {said ?? how}
      </p>
    </div>
  );
}

const linked = "a[data-n]";

/** Of a drawn link: its place in its row; the first of each row is on the way of the tab key. */
export const linkPlace = (index: number) => ({ "data-n": index, tabIndex: index === 0 ? 0 : -1 });

/** Left and right along a row, up and down to what lies next. Enter opens: each is a link. */
function moveAmongLinks(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const { target: link, key, currentTarget } = event;
  if (!(link instanceof HTMLElement) || !link.matches(linked) || !key.startsWith("Arrow")) return;
  event.preventDefault();
  const step = key === "ArrowLeft" || key === "ArrowUp" ? -1 : 1;
  const rows = [...currentTarget.querySelectorAll(".row")];
  const linksOf = (row?: Element): HTMLElement[] => [...(row?.querySelectorAll<HTMLElement>(linked) ?? [])];
  const away = (of: HTMLElement): number => Math.abs(of.offsetLeft - link.offsetLeft);
  const at = rows.findIndex((row) => row.contains(link));
  const own = linksOf(rows[at]);
  const isAside = key === "ArrowLeft" || key === "ArrowRight";
  const next = isAside
    ? own[own.indexOf(link) + step]
    : linksOf(rows[at + step]).toSorted((a, b) => away(a) - away(b))[0];
  next?.focus();
}
