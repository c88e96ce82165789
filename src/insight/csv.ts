/**
 * For spreadsheets (RFC 4180). They run what begins with = + - or @, so an apostrophe goes before it; line breaks and quotes
 * stay inside their cell.
 */
export const csv = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, ...rows].map((row) => row.map(cell).join(",")).join("\r\n");

function cell(text: string): string {
  const inert = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n\t]/.test(inert) ? `"${inert.replaceAll('"', '""')}"` : inert;
}
