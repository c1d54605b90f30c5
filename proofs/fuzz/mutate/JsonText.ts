import type { Dice } from "../Dice.ts"

/**
 * Raw JSON text, for values that JavaScript cannot express: `-0`, `1e999`, half a surrogate pair.
 */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** An object as raw JSON text. Names can be repeated, and `__proto__` is an ordinary name. */
class Members {
  readonly entries: ReadonlyArray<readonly [name: string, value: unknown]>
  constructor(entries: ReadonlyArray<readonly [name: string, value: unknown]>) {
    this.entries = entries
  }
}

export const jsonText = (value: unknown): string => {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(",")}]`
  const entries = entriesOf(value)
  return entries === undefined
    ? (JSON.stringify(value) ?? "null")
    : `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${jsonText(one)}`).join(",")}}`
}

export interface MutatedJson {
  readonly value: unknown
  readonly how: string
  /** True if the contract never accepts the value. */
  readonly isHopeless: boolean
}

/** Makes one random change to a value. */
export const mutateJson = (value: unknown, dice: Dice): MutatedJson => {
  const entries = entriesOf(value)
  if (entries !== undefined && dice.chance(0.35)) return mutateMembers(entries, dice)
  const children: ReadonlyArray<readonly [at: string | number, inner: unknown]> = Array.isArray(
    value
  )
    ? [...value.entries()]
    : (entries ?? [])
  const child = dice.pickLate(children)
  if (child === undefined || dice.chance(0.1)) {
    const [how, odd] = dice.pick(oddValues)
    return { value: odd(dice), how: `${how} for a value`, isHopeless: false }
  }
  const [at, inner] = child
  const altered = mutateJson(inner, dice)
  return {
    value: Array.isArray(value)
      ? value.with(Number(at), altered.value)
      : new Members(
          (entries ?? []).map(([name, one]) => [name, name === at ? altered.value : one])
        ),
    how: `${altered.how} at ${at}`,
    // The contract rejects unknown names in objects, but not in maps such as `headers`.
    isHopeless: false
  }
}

const mutateMembers = (entries: Members["entries"], dice: Dice): MutatedJson => {
  const [name = "x", value] = dice.pickLate(entries) ?? []
  const [, odd] = dice.pick(oddValues)
  const unknown = dice.pick(unknownNames)
  switch (dice.below(4)) {
    case 0:
      return altered(
        entries.filter(([one]) => one !== name),
        `without ${name}`
      )
    case 1:
      return altered([...entries, [name, odd(dice)]], `${name} twice`)
    case 2:
      return altered([[name, odd(dice)], ...entries], `${name} twice, the good one last`)
    default:
      return {
        ...altered([...entries, [unknown, value]], `with ${JSON.stringify(unknown)}`),
        // `status` is a valid field in the filter for reruns.
        isHopeless: unknown !== "status"
      }
  }
}

const altered = (entries: Members["entries"], how: string): MutatedJson => ({
  value: new Members(entries),
  how,
  isHopeless: false
})

const entriesOf = (value: unknown): Members["entries"] | undefined => {
  if (value instanceof Members) return value.entries
  return typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof RawJson)
    ? Object.entries(value)
    : undefined
}

const unknownNames: readonly [string, ...Array<string>] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "is_admin",
  "id",
  "workspace_id",
  "status",
  "",
  "0",
  "Name",
  "name ",
  "\u0000",
  "ключ",
  "x".repeat(5_000)
]

const text = (value: string) => () => value
const verbatim = (value: string) => () => new RawJson(value)

const oddTexts: readonly [string, ...Array<string>] = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\r\nx-injected: 1",
  "\u202eevil\u202c",
  "مرحبا",
  "👩‍👩‍👧‍👦🏴‍☠️",
  "e\u0301".repeat(100),
  "\ufeff\u2028\u2029",
  "'; DROP TABLE users; --",
  "%s%n%x ${jndi:ldap://127.0.0.1/a}",
  "__proto__",
  "null",
  "NaN",
  "{{ steps.step0.body }}",
  "{{",
  "{{ steps.x.body[999999999] }}",
  "http://user:pass@127.0.0.1/",
  "javascript:alert(1)",
  "http://[::ffff:127.0.0.1]:4000/",
  "* * * * * *",
  "*/0 * * * *",
  "99999999999999999999 * * * *",
  "0 0 30 2 *",
  "UTC+02:00",
  "../../etc/passwd",
  "9999-12-31T23:59:60Z",
  "+275760-09-13T00:00:00.001Z",
  "-000001-01-01T00:00:00Z",
  "2026-02-30T00:00:00Z",
  "2026-01-01T00:00:00+02:00",
  "2026-01-01"
]

const oddValues: readonly [
  readonly [how: string, make: (dice: Dice) => unknown],
  ...Array<readonly [how: string, make: (dice: Dice) => unknown]>
] = [
  ["an odd text", (dice) => dice.pick(oddTexts)],
  ["an odd text", (dice) => dice.pick(oddTexts)],
  ["an odd text", (dice) => dice.pick(oddTexts)],
  ["half a surrogate pair", verbatim(String.raw`"\ud83d"`)],
  ["the other half", verbatim(String.raw`"a\udc00b"`)],
  ["a long text", (dice) => "a".repeat(10 ** (2 + dice.below(4)))],
  ["a long text of emoji", text("🦆".repeat(2_000))],
  ["null", () => null],
  ["true", () => true],
  ["-0", verbatim("-0")],
  ["-1", () => -1],
  ["half", () => 0.5],
  ["1e999", verbatim("1e999")],
  ["-1e999", verbatim("-1e999")],
  ["1e-999", verbatim("1e-999")],
  ["2^31", () => 2 ** 31],
  ["2^53 + 1", verbatim("9007199254740993")],
  ["2^64", verbatim("18446744073709551616")],
  ["many digits", verbatim("9".repeat(500))],
  ["[]", () => []],
  ["{}", () => ({})],
  ["a __proto__", verbatim('{"__proto__":{"is_admin":true}}')],
  ["deep lists", (dice) => deep("[", "]", 10 ** (1 + dice.below(4)))],
  ["deep objects", (dice) => deep('{"a":', "}", 10 ** (1 + dice.below(4)), "1")],
  ["a wide list", (dice) => Array.from({ length: 10 ** (1 + dice.below(4)) }, () => 1)],
  [
    "a wide object",
    (dice) =>
      Object.fromEntries(
        Array.from({ length: 10 ** (1 + dice.below(4)) }, (_, at) => [`k${at}`, "v"])
      )
  ]
]

const deep = (open: string, close: string, depth: number, inside = "") =>
  new RawJson(open.repeat(depth) + inside + close.repeat(depth))
