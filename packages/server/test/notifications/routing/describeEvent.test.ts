import { assert, it } from "@effect/vitest"
import { RecordId } from "@scheduling/domain/shared/Ids"
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

it.each([
  ["2026-06-01T00:00:00.000Z", "Certificate expired: 2026-06-01T00:00:00.000Z (9 d ago)"],
  ["2026-06-12T03:00:00.000Z", "Certificate expires: 2026-06-12T03:00:00.000Z (in 2 d 3 h)"]
] as const)("A reminder about a certificate that expires at %s says so", (expiresAt, expected) => {
  const describe = (event: "incident.opened" | "incident.closed") =>
    describeEvent(
      {
        event,
        subject_id: subjectId,
        at: new Date("2026-06-10T00:00:00Z"),
        data: { name: "Site", reminder: true, about: aboutExpiry(expiresAt) }
      },
      undefined,
      {
        event,
        failures: 1,
        since: new Date("2026-06-09T00:00:00Z"),
        notified_at: null,
        remind_at: null,
        withheld: false,
        hold_until: null
      }
    ).facts.map(({ name, value }) => `${name}: ${value}`)
  const since = "Since: 2026-06-09T00:00:00.000Z (1 d)"
  assert.deepStrictEqual(describe("incident.opened"), [since, expected])
  assert.deepStrictEqual(describe("incident.closed"), [since])
})

const aboutExpiry = (certificate_expires_at: string) => ({
  incident: {
    id: null,
    subject: { kind: "ssl" as const, id: RecordId.make(subjectId), name: "Site" },
    cause: { code: "expired" as const, message: "It is old.", certificate_expires_at }
  }
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
