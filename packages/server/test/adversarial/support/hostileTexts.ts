const nested = (open: string, close: string, depth: number) =>
  open.repeat(depth) + close.repeat(depth)

export const objectWithKeys = (keys: number) =>
  `{${Array.from({ length: keys }, (_, index) => `"k${index.toString(36)}":0`).join()}}`

/** Strings that parsers, databases, terminals or templates are known to interpret. */
export const hostileTexts = [
  "a\u0000b",
  "\ud800",
  "\udc00\ud800",
  "\ufeff",
  "a\ufeffb",
  "\u2028",
  "\u202eabc",
  "\u007f\u0085",
  "a\r\nb: c",
  "\u{1f4a9}\u{1d4b3}",
  "e\u0301",
  "İSTANBUL",
  "'; DROP TABLE tasks; --",
  "\\'\\\"\\\\",
  "%00%0a%s%n",
  "{{ constructor.constructor('return 1')() }}",
  "${7*7}",
  "__proto__",
  "[object Object]",
  "null",
  "1e400",
  "a".repeat(300_000)
]

/** Raw JSON values. `JSON.stringify` cannot produce most of them. */
export const hostileJsonValues: ReadonlyArray<string> = [
  ...hostileTexts.map((text) => JSON.stringify(text)),
  "1e400",
  "-1e400",
  "-0",
  "1e-400",
  "9007199254740993",
  "18446744073709551616",
  "0.1",
  "-1",
  "1e3",
  "1.0",
  "9".repeat(20_000),
  "true",
  "null",
  '""',
  "[]",
  "{}",
  "[null]",
  nested("[", "]", 100_000),
  nested('{"a":', "}", 20_000).replace("}", "0}"),
  objectWithKeys(10_000),
  `[${"0,".repeat(10_000)}0]`,
  '{"__proto__":"a"}',
  '{"constructor":"a","prototype":"b","toString":"c","hasOwnProperty":"d","then":"e","toJSON":"f"}',
  '{"__proto__":{"isAdmin":true}}',
  '{"constructor":{"prototype":{"isAdmin":true}}}',
  '{"a":"1","a":"2"}'
]
