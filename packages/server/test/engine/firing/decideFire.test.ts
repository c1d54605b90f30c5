import { assert, describe, it } from "@effect/vitest"
import { decideFire, type TaskTiming } from "../../../src/engine/firing/decideFire.ts"

const at = (time: string) => Date.parse(`2026-03-02T${time}Z`)

const due = (fields: Partial<TaskTiming>): TaskTiming => ({
  schedule: "0 * * * *",
  timezone: "UTC",
  missed: "once",
  dst_overlap: "first",
  firing_options: null,
  next_fire_ms: at("09:00:00"),
  now_ms: at("08:59:58"),
  ...fields
})

describe("decideFire", () => {
  it("runs the slot and moves to the next one", () => {
    assert.deepStrictEqual(decideFire(due({})), {
      slot_ms: at("09:00:00"),
      fired_until_ms: at("09:00:00"),
      next_fire_ms: at("10:00:00")
    })
  })

  it("makes up for all slots that passed with the latest of them", () => {
    assert.deepStrictEqual(decideFire(due({ now_ms: at("12:30:00") })), {
      slot_ms: at("12:00:00"),
      fired_until_ms: at("12:00:00"),
      next_fire_ms: at("13:00:00")
    })
  })

  it("runs none of them if missed is skip, except one that is hardly late", () => {
    const skip = { missed: "skip" } as const
    assert.deepStrictEqual(decideFire(due({ ...skip, now_ms: at("12:30:00") })), {
      slot_ms: null,
      fired_until_ms: at("12:00:00"),
      next_fire_ms: at("13:00:00")
    })
    assert.deepStrictEqual(decideFire(due({ ...skip, now_ms: at("12:00:20") })), {
      slot_ms: at("12:00:00"),
      fired_until_ms: at("12:00:00"),
      next_fire_ms: at("13:00:00")
    })
    assert.deepStrictEqual(decideFire(due({ ...skip, now_ms: at("09:20:00") })), {
      slot_ms: null,
      fired_until_ms: at("09:00:00"),
      next_fire_ms: at("10:00:00")
    })
  })

  it("makes up for each of them in order if missed is all, and then goes on", () => {
    let next_fire_ms: number | null = at("09:00:00")
    const slots: Array<number | null> = []
    while (next_fire_ms !== null && next_fire_ms <= at("12:30:00")) {
      const fire = decideFire(due({ missed: "all", now_ms: at("12:30:00"), next_fire_ms }))
      slots.push(fire.slot_ms)
      next_fire_ms = fire.next_fire_ms
    }
    assert.deepStrictEqual(slots, [at("09:00:00"), at("10:00:00"), at("11:00:00"), at("12:00:00")])
    assert.strictEqual(next_fire_ms, at("13:00:00"))
  })

  it("makes up for each slot of the last 24 hours only, and for older ones with the latest", () => {
    const day = 86_400_000
    const all = { missed: "all", now_ms: at("12:30:00") + 3 * day } as const
    assert.deepStrictEqual(decideFire(due(all)), {
      slot_ms: at("13:00:00") + 2 * day,
      fired_until_ms: at("13:00:00") + 2 * day,
      next_fire_ms: at("14:00:00") + 2 * day
    })
    const firing_options = { ends_at: "2026-03-02T11:30:00Z" }
    assert.deepStrictEqual(decideFire(due({ ...all, firing_options })), {
      slot_ms: at("11:00:00"),
      fired_until_ms: at("11:00:00"),
      next_fire_ms: null
    })
    const excluded = { excluded_days: ["2026-03-02"] }
    const now_ms = at("01:30:00") + day
    assert.deepStrictEqual(decideFire(due({ ...all, now_ms, firing_options: excluded })), {
      slot_ms: at("00:00:00") + day,
      fired_until_ms: at("00:00:00") + day,
      next_fire_ms: at("01:00:00") + day
    })
  })

  it("fires a slot that is due at this very moment once", () => {
    assert.deepStrictEqual(decideFire(due({ now_ms: at("10:00:00") })), {
      slot_ms: at("10:00:00"),
      fired_until_ms: at("10:00:00"),
      next_fire_ms: at("11:00:00")
    })
  })

  it("has no next slot after the last one, and still runs that", () => {
    const firing_options = { ends_at: "2026-03-02T09:30:00Z" }
    for (const now_ms of [at("08:59:58"), at("23:00:00")]) {
      assert.deepStrictEqual(decideFire(due({ firing_options, now_ms })), {
        slot_ms: at("09:00:00"),
        fired_until_ms: at("09:00:00"),
        next_fire_ms: null
      })
    }
  })

  it("continues second by second, whenever nodes check", () => {
    const slots: Array<number> = []
    let next = at("09:00:00")
    const precise = due({ schedule: "*/5 * * * * *", firing_options: { precision: "second" } })
    for (let now = at("08:59:58"); now < at("09:00:58"); now += 700) {
      if (next > now + 2_000) continue
      const fire = decideFire({ ...precise, next_fire_ms: next, now_ms: now })
      slots.push(fire.slot_ms ?? 0)
      next = fire.next_fire_ms ?? 0
    }
    const expected = Array.from({ length: 12 }, (_, index) => at("09:00:00") + index * 5_000)
    assert.deepStrictEqual(slots, expected)
  })

  it("makes up for seconds that passed with the latest of them", () => {
    const precise = { schedule: "*/5 * * * * *", firing_options: { precision: "second" } as const }
    assert.deepStrictEqual(decideFire(due({ ...precise, now_ms: at("09:00:13") })), {
      slot_ms: at("09:00:10"),
      fired_until_ms: at("09:00:10"),
      next_fire_ms: at("09:00:15")
    })
  })

  it("makes up for the latest slot that is not on an excluded day", () => {
    const firing_options = { excluded_days: ["2026-03-03"] }
    const now_ms = at("12:30:00") + 24 * 3_600_000
    assert.deepStrictEqual(decideFire(due({ firing_options, now_ms })), {
      slot_ms: at("23:00:00"),
      fired_until_ms: at("23:00:00"),
      next_fire_ms: at("00:00:00") + 48 * 3_600_000
    })
  })
})
