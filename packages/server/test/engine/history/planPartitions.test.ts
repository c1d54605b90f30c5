import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  partitionDaysAhead,
  type PartitionPlan,
  type HistoryPartition,
  planPartitions
} from "../../../src/engine/history/planPartitions.ts"

const between = (minimum: number, maximum: number) =>
  Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The number of days until the next check, and the retention at that time. */
const Looks = Schema.Array(Schema.Struct({ days: between(0, 50), retentionDays: between(1, 40) }))

/** Applies a plan to the partitions. */
const carriedOut = (
  parts: ReadonlyArray<HistoryPartition>,
  plan: PartitionPlan
): ReadonlyArray<HistoryPartition> => [
  { name: "before", from: -Infinity, to: plan.from },
  ...parts.filter(
    (part) => part.from !== -Infinity && part.to !== Infinity && !plan.expired.includes(part)
  ),
  ...plan.missing.map((day) => ({ name: String(day), from: day, to: day + 1 })),
  { name: "ahead", from: plan.to, to: Infinity }
]

describe("the days of the history", () => {
  it.prop("contain every id once, and no day older than the retention", [Looks], ([looks]) => {
    let parts: ReadonlyArray<HistoryPartition> = [{ name: "ahead", from: -Infinity, to: Infinity }]
    let today = 20_000
    for (const { days, retentionDays } of looks) {
      today += days
      const plan = planPartitions(parts, today, retentionDays)
      if (plan !== undefined) parts = carriedOut(parts, plan)
      assert.isUndefined(planPartitions(parts, today, retentionDays))
      const inOrder = parts.toSorted((one, other) => one.from - other.from)
      assert.strictEqual(inOrder[0]?.from, -Infinity)
      assert.strictEqual(inOrder.at(-1)?.to, Infinity)
      for (const [index, { from }] of inOrder.entries()) {
        if (index > 0) assert.strictEqual(from, inOrder[index - 1]?.to)
      }
      const made = inOrder.slice(1, -1)
      assert.isTrue(made.every(({ to }) => to > today - retentionDays))
      assert.isAtLeast(inOrder.at(-1)?.from ?? 0, today + partitionDaysAhead + 1)
    }
  })
})
