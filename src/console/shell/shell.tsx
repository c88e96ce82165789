import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { BulkProgress } from "../bulk/bulk-progress.tsx";
import { ConfirmDialog } from "../parts/confirm.tsx";
import { Failure } from "../parts/failure.tsx";
import { Toasts } from "../parts/toast.tsx";
import { CellsBanner, SaveBanner, StaleBanner } from "./connection.tsx";
import { Nav } from "./nav.tsx";
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
      <CellsBanner />
      <SaveBanner />
      <main id="main" tabIndex={-1}>
        <Held>{children}</Held>
      </main>
    </div>
    <Shortcuts />
    <ConfirmDialog />
    <BulkProgress />
    <Toasts />
  </div>
);
