import { assert, describe, it } from "@effect/vitest"
import { CallSlots } from "../../../src/engine/leased-runs/CallSlots.ts"

const limits = { slots: 4_096, perTarget: 512 }

interface Hostile {
  readonly share: number
  readonly target: string
}

/** Starts all calls that there is capacity for during a period, and finishes none of them. */
const flood = (
  slots: CallSlots,
  hostile: ReadonlyArray<Hostile>,
  seconds: number,
  name = "hostile"
) => {
  let id = 0
  for (let second = 0; second < seconds; second++) {
    const nowMs = second * 1_000
    slots.watch(nowMs)
    for (let served = true; served;) {
      served = false
      for (const { share, target } of hostile) {
        if (!slots.hasRoom(share, target, nowMs)) continue
        slots.occupy(`${name} ${id++}`, share, target, nowMs)
        served = true
      }
    }
  }
  return seconds * 1_000
}

describe("CallSlots", () => {
  for (const owners of [1, 20, 500, 3_000]) {
    for (const targets of ["one of all", "one of each"]) {
      it(`are available to a newcomer beside ${owners} whose calls never end, at ${targets}`, () => {
        const slots = new CallSlots(limits)
        const hostile = Array.from({ length: owners }, (_, share) => ({
          share,
          target: targets === "one of all" ? "https://hangs" : `https://hangs-${share}`
        }))
        const nowMs = flood(slots, hostile, 60)
        for (let newcomer = 0; newcomer < 200; newcomer++) {
          const share = 10_000 + newcomer
          const target = `https://new-${newcomer}`
          assert.isTrue(slots.hasRoom(share, target, nowMs))
          slots.occupy(`new ${newcomer}`, share, target, nowMs)
        }
      })
    }
  }

  it("are available to a newcomer although accounts whose calls never end arrived one after another", () => {
    const slots = new CallSlots(limits)
    for (let share = 0; share < 1_500; share++) {
      flood(slots, [{ share, target: `https://hangs-${share}` }], 2, `${share} `)
    }
    for (let newcomer = 0; newcomer < 200; newcomer++) {
      assert.isTrue(slots.hasRoom(10_000 + newcomer, "https://new", 0))
      slots.occupy(`new ${newcomer}`, 10_000 + newcomer, "https://new", 0)
    }
  })

  it("are available for targets that respond, although other accounts keep calling new targets that never respond", () => {
    const slots = new CallSlots(limits)
    let nowMs = 0
    let id = 0
    const answer = (share: number) => {
      const name = `quick ${id++}`
      if (!slots.hasRoom(share, "https://quick", nowMs)) return false
      slots.occupy(name, share, "https://quick", nowMs)
      slots.vacate(name, nowMs, true)
      return true
    }
    assert.isTrue(answer(1))
    for (let round = 0; round < 200; round++, nowMs += 500) {
      slots.watch(nowMs)
      for (let share = 100; share < 600; share++) {
        const target = `https://${round}.${share}`
        if (slots.hasRoom(share, target, nowMs)) slots.occupy(`h ${id++}`, share, target, nowMs)
      }
      assert.isTrue(answer(1))
    }
    assert.isAtLeast(slots.free, limits.slots / 16)
    assert.isAtMost(slots.slow, limits.slots / 2 + 500)
  })

  it("of a target are divided among its callers, and its limit falls while it is slow and rises again", () => {
    const slots = new CallSlots({ slots: 1_000, perTarget: 400 })
    const other = Array.from({ length: 40 }, (_, share) => ({
      share: 100 + share,
      target: `https://other-${share}`
    }))
    flood(slots, [{ share: 1, target: "https://slow" }, ...other], 30)
    assert.isFalse(slots.hasRoom(1, "https://slow", 30_000))
    assert.isTrue(slots.hasRoom(2, "https://slow", 30_000))
    // While slots are scarce, two concurrent calls exceed the target's limit.
    slots.occupy("second", 2, "https://slow", 30_000)
    assert.isFalse(slots.hasRoom(2, "https://slow", 30_000))
  })

  it("are limited per target only while slots are scarce: a slow target gets four fifths of them", () => {
    const slots = new CallSlots(limits)
    flood(slots, [{ share: 1, target: "https://slow" }], 120)
    assert.isAtLeast(slots.taken, 400)
  })

  it("are all released, in whatever order calls finish", () => {
    const slots = new CallSlots({ slots: 64, perTarget: 16 })
    let random = 7
    const next = (below: number) => {
      random = (random * 1_103_515_245 + 12_345) % 2 ** 31
      return random % below
    }
    const running = new Map<string, number>()
    for (let step = 0; step < 20_000; step++) {
      const nowMs = step * 20
      slots.watch(nowMs)
      const share = next(12)
      const target = next(5) === 0 ? null : `https://${next(6)}`
      if (next(2) === 0 && slots.hasRoom(share, target, nowMs)) {
        slots.occupy(String(step), share, target, nowMs)
        running.set(String(step), share)
      } else {
        const ended = [...running.keys()][next(Math.max(1, running.size))]
        if (ended !== undefined) {
          slots.vacate(ended, nowMs, next(3) > 0)
          running.delete(ended)
        }
      }
      assert.strictEqual(slots.taken, running.size)
      assert.isAtLeast(slots.free, 0)
      assert.isAtMost(slots.slow, slots.taken)
    }
    for (const id of running.keys()) slots.vacate(id, 1e9, true)
    assert.deepInclude(slots, { taken: 0, slow: 0, free: 64 })
    assert.isTrue(slots.hasRoom(99, "https://0", 1e9))
  })

  const beside = {
    nobody: () => new CallSlots(limits),
    "others whose calls hang at other targets": () => {
      const slots = new CallSlots(limits)
      flood(slots, [{ share: 1, target: "https://hangs" }], 3)
      flood(slots, [{ share: 2, target: "https://hangs-too" }], 3, "more")
      return slots
    },
    "others who hold most of the target": () => {
      const slots = new CallSlots(limits)
      flood(slots, [{ share: 1, target: "https://target" }], 1)
      return slots
    },
    "answers of the target that came quickly": () => {
      const slots = new CallSlots(limits)
      slots.occupy("first", 1, "https://target", 0)
      slots.vacate("first", 1, true)
      return slots
    },
    "so many hanging calls that only newcomers get slots": () => {
      const slots = new CallSlots(limits)
      const hostile = Array.from({ length: 3_000 }, (_, share) => ({
        share: 100 + share,
        target: `https://hangs-${share}`
      }))
      flood(slots, hostile, 60)
      return slots
    }
  }
  for (const [what, make] of Object.entries(beside)) {
    it(`predicts how many calls find room, beside ${what}`, () => {
      for (const share of [1, 5]) {
        for (const target of ["https://target", "https://hangs", "https://other", null]) {
          const slots = make()
          const room = slots.roomOf(share, target, 3_000)
          let found = 0
          while (slots.hasRoom(share, target, 3_000)) {
            slots.occupy(`call ${found++}`, share, target, 3_000)
          }
          assert.strictEqual(room, found, `${share} at ${target}`)
        }
      }
    })
  }
})
