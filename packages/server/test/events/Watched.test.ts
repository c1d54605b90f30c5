import { assert, describe, it } from "@effect/vitest"
import { Watched } from "../../src/events/Watched.ts"

const limits = { wanted: 3, wantedMs: 1_000, ended: 4 }

describe("what other nodes want to hear of", () => {
  it("is told when it ends, until nobody waits any more", () => {
    const watched = new Watched(limits)
    assert.isFalse(watched.want("a", 0))
    assert.isTrue(watched.end("a", 999))
    assert.isFalse(watched.end("b", 999))
    assert.isFalse(watched.end("a", 1_000))
  })

  it("is told at once where it ended before they asked", () => {
    const watched = new Watched(limits)
    assert.isFalse(watched.end("a", 0))
    assert.isTrue(watched.want("a", 0))
  })

  it("is told more than once: a chain's run has the id of its first step", () => {
    const watched = new Watched(limits)
    assert.isFalse(watched.want("a", 0))
    assert.isTrue(watched.end("a", 1))
    assert.isTrue(watched.end("a", 2))
  })

  it("counts from the last time that somebody asked", () => {
    const watched = new Watched(limits)
    watched.want("a", 0)
    watched.want("a", 900)
    assert.isTrue(watched.end("a", 1_800))
  })

  it("stays within its bounds, and forgets the oldest first", () => {
    const watched = new Watched(limits)
    for (const id of ["a", "b", "c", "d"]) watched.want(id, 0)
    assert.isFalse(watched.end("a", 1))
    assert.isTrue(watched.end("b", 1))
    for (let id = 0; id < 1_000; id++) {
      watched.want(`w${id}`, 2)
      watched.end(`e${id}`, 2)
    }
    assert.isAtMost(watched.size, limits.wanted + limits.ended)
    assert.isTrue(watched.want("e999", 3))
    assert.isTrue(watched.want("e997", 3))
    assert.isFalse(watched.want("e900", 3))
  })
})
