import { assert, describe, it } from "@effect/vitest"
import { WatchedIds } from "../../src/events/WatchedIds.ts"

const limits = { wanted: 3, wantedMs: 1_000, ended: 4 }

describe("an id for which other nodes wait", () => {
  it("is sent when it ends, as long as another node waits", () => {
    const watched = new WatchedIds(limits)
    assert.isFalse(watched.want("a", 0))
    assert.isTrue(watched.end("a", 999))
    assert.isFalse(watched.end("b", 999))
    assert.isFalse(watched.end("a", 1_000))
  })

  it("is sent immediately if it finished before the announcement", () => {
    const watched = new WatchedIds(limits)
    assert.isFalse(watched.end("a", 0))
    assert.isTrue(watched.want("a", 0))
  })

  it("is sent each time that it ends, because a chain run has the id of its first step", () => {
    const watched = new WatchedIds(limits)
    assert.isFalse(watched.want("a", 0))
    assert.isTrue(watched.end("a", 1))
    assert.isTrue(watched.end("a", 2))
  })

  it("is wanted for a minute from the last request", () => {
    const watched = new WatchedIds(limits)
    watched.want("a", 0)
    watched.want("a", 900)
    assert.isTrue(watched.end("a", 1_800))
  })

  it("is forgotten when there are too many, the oldest first", () => {
    const watched = new WatchedIds(limits)
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
