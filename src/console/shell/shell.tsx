import { Button, ConfirmDialog, Failure, Toasts } from "../parts/index.ts";
import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { ongoing } from "../bulk/bulk.ts";
import { SaveBanner, SkewBanner, StaleBanner } from "./connection.tsx";
import { Nav } from "./nav.tsx";
import { Palette } from "./palette.tsx";
import { Shortcuts } from "./shortcuts.tsx";
import { TopBar } from "./top-bar.tsx";
import { words } from "../language/words.ts";

/** A screen that breaks takes nothing else with it. */
function Held({ children }: { readonly children: ComponentChildren }) {
  const [error, again] = useErrorBoundary();
  return error === undefined ? <>{children}</> : <Failure error={error as Error} onRetry={again} />;
}

/** What every screen has around it. */
export const Shell = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="shell">
    <a class="skip" href="#main">
      {words.shell.skip}
    </a>
    <Nav />
    <div class="page">
      <TopBar />
      <StaleBanner />
      <SkewBanner />
      <SaveBanner />
      <main id="main" tabIndex={-1}>
        <Held>{children}</Held>
      </main>
    </div>
    <Shortcuts />
    <Palette />
    <ConfirmDialog />
    <Toasts>
      <BulkProgress />
    </Toasts>
  </div>
);

/** How far a change of many jobs is, on every screen, with a button that stops it. */
function BulkProgress() {
  if (ongoing.value === null) return null;
  const { action, done, total, stop } = ongoing.value;
  const text = words.bulk.ongoing(action, done, total);
  return (
    <div class="line toast">
      <span class="toast-text">{text}</span>
      <progress max={Math.max(1, total.count)} value={done} aria-label={text} />
      <Button text={words.bulk.stop} look="small" onClick={stop} />
    </div>
  );
}
