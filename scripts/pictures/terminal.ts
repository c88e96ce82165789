import type { Browser } from "playwright-core";

const looks = {
  light: {
    ground: "#ffffff",
    text: "#1f2328",
    dim: "#636a76",
    red: "#b3341a",
    green: "#0d7a5f",
    yellow: "#8f5a00",
    cyan: "#0f6a86",
  },
  dark: {
    ground: "#16171a",
    text: "#e7e8ec",
    dim: "#9a9da8",
    red: "#ff8a6b",
    green: "#4cc9a4",
    yellow: "#e8b04a",
    cyan: "#62c7dd",
  },
} as const;

/** A picture of what a terminal shows. */
export async function terminalPicture(
  browser: Browser,
  screen: string,
  { theme, path }: { readonly theme: keyof typeof looks; readonly path: string },
): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1040, height: 600 }, deviceScaleFactor: 1 });
  const look = looks[theme];
  await page.setContent(`<!doctype html><style>
    body { margin: 0; background: ${look.ground}; color: ${look.text} }
    pre { margin: 0; padding: 16px 20px; font: 13px/1.55 "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere }
    b { font-weight: 700 } .dim { color: ${look.dim} } .red { color: ${look.red} } .green { color: ${look.green} }
    .yellow { color: ${look.yellow} } .cyan { color: ${look.cyan} }
  </style><pre><span class="dim">$</span> npm start -- --examples\n${htmlOf(screen)}</pre>`);
  await page.locator("pre").screenshot({ path });
  await page.close();
}

const opened: Readonly<Record<string, string>> = {
  1: "<b>",
  2: '<span class="dim">',
  31: '<span class="red">',
  32: '<span class="green">',
  33: '<span class="yellow">',
  36: '<span class="cyan">',
};
const closed: Readonly<Record<string, string>> = { 22: "", 39: "" };

/** Colours as spans. Codes that end one end the innermost; those the system does not write are left out. */
function htmlOf(text: string): string {
  const open: string[] = [];
  return (
    text
      .replace(/[&<>]/g, (sign) => `&#${sign.charCodeAt(0)};`)
      // oxlint-disable-next-line no-control-regex -- colours begin with the escape character
      .replace(/\u001B\[(\d+)m/g, (_, code: string) => {
        const begin = opened[code];
        if (begin !== undefined) {
          open.push(begin.startsWith("<b") ? "</b>" : "</span>");
          return begin;
        }
        return code in closed ? (open.pop() ?? "") : "";
      })
  );
}
