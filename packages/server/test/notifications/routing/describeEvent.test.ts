import { assert, it } from "@effect/vitest"
import { describeEvent, formatDuration } from "../../../src/notifications/routing/describeEvent.ts"
import { announcementData } from "../support/events.ts"
import { subjectId } from "../support/messages.ts"

it.each([
  [0, "0 s"],
  [61_000, "1 min 1 s"],
  [183_600_000, "2 d 3 h"]
])("A duration of %i ms is shown as %s", (ms, text) => assert.strictEqual(formatDuration(ms), text))

it.each([
  ["incident.opened", 1, ["Shop"], "Also down: Shop"],
  ["incident.opened", 2, ["Report", "Shop"], "Also down: Report and Shop"],
  ["incident.opened", 1_203, ["A", "B", "C"], "Also down: A, B, C and 1,200 more"],
  ["incident.closed", 3, ["Report", "Shop"], "Still down: Report, Shop and 1 more"]
] as const)("The message about %s names the %i dependents %j", (event, count, names, expected) => {
  const { facts } = describeWith(event, { count, names })
  assert.deepStrictEqual(
    facts.map(({ name, value }) => `${name}: ${value}`),
    [expected]
  )
})

it("Long names of dependents leave the number of the others readable", () => {
  const names = Array.from({ length: 5 }, (_, index) => `${index}${"\u{1F600}".repeat(100)}`)
  const [fact] = describeWith("incident.opened", { count: 10_000, names }).facts
  assert.match(fact?.value ?? "", / and 9,995 more$/)
  assert.isAtMost(fact?.value.length ?? 0, 300)
  assert.isTrue(fact?.value.isWellFormed())
})

const describeWith = (
  event: "incident.opened" | "incident.closed",
  dependents: { readonly count: number; readonly names: ReadonlyArray<string> }
) =>
  describeEvent(
    { event, subject_id: subjectId, at: new Date(0), data: announcementData(event, subjectId) },
    undefined,
    undefined,
    dependents
  )
