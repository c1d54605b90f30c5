import { assert, describe, it } from "@effect/vitest"
import { Socket } from "node:net"
import { setImmediate as nextRound } from "node:timers/promises"
import { Arrivals } from "../../../src/http/fairness/Arrivals.ts"
import { times } from "../../support/http.ts"

const socketFrom = (address: string): Socket =>
  Object.defineProperty(new Socket(), "remoteAddress", { value: address })

/** Arrivals that write down who began, at once or after its turn. */
const written = () => {
  const begun: Array<string | undefined> = []
  const begin = ({ remoteAddress }: Socket) => void begun.push(remoteAddress)
  const arrivals = new Arrivals(begin)
  const arrive = (address: string, socket = socketFrom(address)) => {
    if (arrivals.take(socket)) begin(socket)
    return socket
  }
  return { arrivals, begun, arrive }
}

const flooder = "192.0.2.1"
const newcomer = "192.0.2.2"

describe("arrivals", () => {
  it("let few connections begin per round of the event loop, and all in the end", async () => {
    const { arrive, begun } = written()
    times(50, () => arrive(flooder))
    let before = 0
    while (begun.length < 50) {
      assert.isAtMost(begun.length - before, 4)
      before = begun.length
      await nextRound()
    }
    // The last round had room left, and a new one has all of it.
    await nextRound()
    times(4, () => arrive(flooder))
    assert.strictEqual(begun.length, 54)
  })

  it("let addresses take turns", async () => {
    const { arrive, begun } = written()
    times(1_000, () => arrive(flooder))
    arrive(newcomer)
    assert.notInclude(begun, newcomer)
    await nextRound()
    assert.include(begun, newcomer)
    assert.isAtMost(begun.length, 8)
  })

  it("do not begin what ended while it waited", async () => {
    const { arrive, begun } = written()
    const sockets = times(6, () => arrive(flooder))
    // Nobody else listens to it yet.
    sockets[4]?.destroy(new Error("reset by the peer"))
    await nextRound()
    await nextRound()
    assert.strictEqual(begun.length, 5)
  })

  it("forget what ended, however long the line is", async () => {
    const { arrivals, arrive } = written()
    times(100, () => arrive(flooder))
    const ended = times(100, () => arrive(flooder))
    assert.strictEqual(arrivals.waiting, 196)
    for (const socket of ended) socket.destroy()
    await nextRound()
    assert.isAtMost(arrivals.waiting, 96)
  })
})
