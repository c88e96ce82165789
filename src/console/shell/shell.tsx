import type { ComponentChildren } from "preact";
import { Nav } from "./nav.tsx";
import { TopBar } from "./top-bar.tsx";

/** What every screen has around it. */
export const Shell = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="shell">
    <a class="skip" href="#main">
      Skip to the content
    </a>
    <Nav />
    <div class="page">
      <TopBar />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
    </div>
  </div>
);
