/** What has broken queries, pages, logs, terminals and spreadsheets. All of it can be stored, so all of it must come back. */
export const hostileTexts: readonly string[] = [
  "'; drop table belfry.job; --",
  "' or '1'='1",
  "$1 $$ \\' %s %n",
  "<script>alert(1)</script>",
  `"><img src=x onerror=alert(1)>`,
  "a\r\nset-cookie: x=1",
  'line\n{"level":"INFO","message":"forged"}',
  "\u001b[31mred\u001b[0m\u001b]0;title\u0007",
  "\u202egnp.exe",
  "=cmd|' /C calc'!A0",
  '@sum(1+1)*","x"',
  "__proto__",
  "constructor",
  "../../etc/passwd",
  "{{7*7}} ${7*7}",
  "\u{1f512}\u0301\ufeff",
  "\u2028\u2029",
];

export interface Refused {
  readonly what: string;
  readonly body: string;
  /** The field that the answer must name; null where there is no field. */
  readonly path: RegExp | null;
}

const payload = (text: string): string => `{"kind":"echo","payload":${text}}`;
const keys = (count: number): string => `{${Array.from({ length: count }, (_, n) => `"k${n}":1`).join(",")}}`;

export const refused: readonly Refused[] = [
  { what: "0 bytes", body: "", path: null },
  { what: "a payload one byte over the limit", body: payload(`"${"x".repeat(262_143)}"`), path: null },
  { what: "arrays 100,000 deep", body: payload("[".repeat(100_000) + "]".repeat(100_000)), path: null },
  { what: "100,000 keys", body: payload(keys(100_000)), path: null },
  { what: "NUL", body: payload('{"text":"a\\u0000b"}'), path: /^payload\.text$/ },
  { what: "NUL in a name", body: payload('{"a\\u0000":1}'), path: /^payload\./ },
  { what: "half a pair", body: payload('{"list":["\\ud800"]}'), path: /^payload\.list\[0\]$/ },
  { what: "1e400", body: payload('{"n":1e400}'), path: /^payload\.n$/ },
  { what: "a key with NUL", body: '{"kind":"echo","key":"a\\u0000"}', path: /^key$/ },
  { what: "a body cut off", body: '{"kind":"ec', path: null },
  { what: "an unknown field", body: '{"kind":"echo","__proto__":{"x":1},"evil":1}', path: /^(evil|__proto__)$/ },
];

/** At the limit to the byte, as it is stored. */
export const largest = payload(`"${"x".repeat(262_142)}"`);
