/** An answer of the query protocol: elements become fields, repeated ones lists; attributes are left out. */
export function parseXml(text: string): unknown {
  const body = text.replace(/<\?[^>]*\?>/g, "").trim();
  const found = [...body.matchAll(/<([\w:]+)(?:\s[^>]*)?(?:\/>|>([\s\S]*?)<\/\1>)/g)];
  if (found.length === 0) return unescaped(body);
  const fields: Record<string, unknown> = {};
  for (const [, name = "", inner = ""] of found) {
    const value = parseXml(inner);
    fields[name] = name in fields ? [fields[name], value].flat() : value;
  }
  return fields;
}

const unescaped = (text: string): string =>
  text
    .replaceAll("&quot;", '"')
    .replaceAll("&#34;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&#39;", "'")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
