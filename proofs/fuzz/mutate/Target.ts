import { randomUUID } from "node:crypto"
import { addFlaw, type Mutation, type Texts } from "./Mutation.ts"

export const mutateQuery: Mutation = (draft, dice, world) => {
  const own =
    draft.query.length > 0 && dice.chance(0.4)
      ? draft.query[dice.below(draft.query.length)]
      : undefined
  // A parameter must have a value before it can be repeated with a different one.
  const repeated = own ?? `limit=${1 + dice.below(100)}`
  const added = dice.pick<string>([
    `limit=${dice.pick(oddNumbers)}`,
    `cursor=${dice.pick(oddTexts)}`,
    `cursor=${world.pickAnyId(dice) ?? ""}`,
    `status=${dice.pick(oddTexts)}`,
    `task_id=${world.pickAnyId(dice) ?? ""}`,
    `name=${dice.pick(oddTexts)}`,
    `from=${dice.pick(oddTimes)}`,
    `to=${dice.pick(oddTimes)}`,
    `count=${dice.pick(oddNumbers)}`,
    `schedule=${dice.pick(["*%20*%20*%20*%20*", "*+*+*+*+*", "%2a/0 * * * *".replaceAll(" ", "+")])}`,
    dice.pick(oddQueries)
  ])
  draft.query = dice.chance(0.3) ? [...draft.query, repeated, repeated] : [...draft.query, added]
  addFlaw(draft, "query")
}

const oddNumbers: Texts = [
  "0",
  "-1",
  "101",
  "1e1",
  "0x10",
  "+5",
  "%205",
  "5%20",
  "05",
  "5.0",
  "NaN",
  "Infinity",
  "1e999",
  "",
  "9007199254740993",
  "%D9%A3",
  "null",
  "1,2"
]

const oddTexts: Texts = [
  "",
  "%",
  "%zz",
  "%00",
  "%ff",
  "%c0%80",
  "%ed%a0%80",
  "%F0%9F%A6%86",
  "+",
  "%25",
  "_",
  "%5C",
  "%27%20OR%201=1",
  "AAAAAAAAAAAAAAAAAAAAAA",
  "______________________",
  "zzzzzzzzzzzzzzzzzzzzz=",
  "a".repeat(300),
  "x".repeat(6_000),
  "[]",
  "&",
  "%26"
]

const oddTimes: Texts = [
  "0000-01-01T00:00:00Z",
  "0001-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999999999Z",
  "1969-12-31T23:59:59Z",
  "2026-02-30T00:00:00Z",
  "+275760-09-13T00:00:00Z",
  "2026-01-01T00:00:00+02:00",
  "2026-01-01T24:00:00Z",
  "2026-01-01T00:00:60Z",
  "infinity",
  "now",
  "0"
]

const oddQueries: Texts = [
  "",
  "=",
  "&&&",
  "=&=",
  "limit",
  "?",
  "%00=1",
  "__proto__=1",
  "__proto__[limit]=1",
  "constructor=1",
  "toString=1",
  "limit[]=1",
  "limit[0]=1",
  "%6cimit=3",
  "LIMIT=1",
  "a".repeat(3_000),
  "k=v&".repeat(500),
  "access_token=x",
  ";limit=1"
]

export const mutatePath: Mutation = (draft, dice, world) => {
  const { segments } = draft
  const ids = segments.flatMap((segment, at) => (/^[0-9a-f-]{36}$/i.test(segment) ? [at] : []))
  const at = dice.chance(0.8)
    ? (dice.pickLate(ids) ?? dice.below(segments.length))
    : dice.below(segments.length)
  const segment = segments[at] ?? ""
  const [how, replacement] = dice.pick<readonly [string, () => ReadonlyArray<string>]>([
    ["an id of anything", () => [world.pickAnyId(dice) ?? segment]],
    ["an id of anything", () => [world.pickAnyId(dice) ?? segment]],
    [
      "another workspace's",
      () => [dice.pickLate(world.sessions)?.account.workspaces[0] ?? segment]
    ],
    ["nobody's id", () => [randomUUID()]],
    ["upper case", () => [segment.toUpperCase()]],
    ["an odd segment", () => [dice.pick(oddSegments)]],
    ["one too many", () => [segment, dice.pick(oddSegments)]],
    ["one too few", () => []],
    ["percent-encoded", () => [segment.replace(/^./, percentEncoded)]],
    ["twice", () => [segment, segment]]
  ])
  draft.segments = segments.toSpliced(at, 1, ...replacement())
  addFlaw(draft, `path: ${how}`)
}

const percentEncoded = (character: string) => `%${character.charCodeAt(0).toString(16)}`

const oddSegments: Texts = [
  "",
  ".",
  "..",
  "%2e%2e",
  "%2f",
  "a%2fb",
  "%00",
  "%",
  "%zz",
  "%ff",
  "%ed%a0%80",
  "null",
  "undefined",
  "0",
  "-1",
  "*",
  ":id",
  ";x=1",
  "preview",
  "stats",
  "run",
  "__proto__",
  "constructor",
  "00000000-0000-0000-0000-000000000000",
  "ffffffff-ffff-ffff-ffff-ffffffffffff",
  "{019a9f3c-5b1e-7c4a-9d2f-3e8b7a6c5d41}",
  "019a9f3c5b1e7c4a9d2f3e8b7a6c5d41",
  "\xe4\xf6\xfc",
  "a".repeat(2_000),
  "%F0%9F%A6%86",
  "#",
  "\\"
]
