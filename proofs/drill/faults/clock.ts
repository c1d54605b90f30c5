import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import {
  sendJson,
  eventually,
  temporaryFolder
} from "../../../packages/server/test/support/ServerProcess.ts"
import { type Node, countRunningRuns, startFixture } from "../fixture/Fixture.ts"
import { startPostgres, postgresStore } from "../fixture/Store.ts"

const preload = path.resolve(
  import.meta.dirname,
  "../../../packages/server/test/support/steppedClock.ts"
)

/**
 * The size of a clock step. It is longer than leases, slots and grace periods, but shorter than an
 * access token's lifetime.
 */
const stepMs = 600_000

/**
 * Steps one node's clock ahead and then back. While the clock is behind, the other node is killed.
 * The node whose clock is wrong must detect this.
 */
export const clockDrill = Effect.gen(function* () {
  const offset = path.join(yield* temporaryFolder("clock"), "offset")
  const store = postgresStore((yield* startPostgres).url)
  const stepped = {
    ...store,
    env: { ...store.env, NODE_OPTIONS: `--import ${preload}`, CLOCK_OFFSET_FILE: offset }
  }
  const fixture = yield* startFixture({ nodes: [stepped, store], ask: store.ask })
  const [victim, other] = fixture.nodes
  const load = yield* fixture.load()

  /** Steps the clock. Returns the seconds until both nodes work again. */
  const step = Effect.fnUntraced(function* (ms: number) {
    fs.writeFileSync(offset, String(ms))
    victim.kill("SIGUSR2")
    yield* eventually(`the clock to be ${ms} ms ahead`, async () => {
      const aheadMs = (await clockOf(victim, fixture.account)) - Date.now()
      return Math.abs(aheadMs - ms) < stepMs / 10
    })
    const seconds = yield* fixture.recovered([victim, other])
    yield* Effect.sleep("3 seconds")
    return seconds
  })
  const ahead = yield* step(stepMs)
  const behind = yield* step(-stepMs)
  const repeatedBefore = [...fixture.sink.calls.values()].filter((count) => count > 1).length

  other.kill("SIGKILL")
  const inFlight = yield* store.ask(countRunningRuns([other]))
  const alone = yield* fixture.recovered([victim])
  yield* Effect.sleep("2 seconds")
  return yield* fixture.finish({
    load,
    alive: [victim],
    inFlight,
    recovery: { seconds: Math.max(ahead, behind, alone), withinSeconds: 10 },
    broken:
      repeatedBefore === 0 ? [] : [`${repeatedBefore} calls were repeated because of a clock`],
    notes: [
      `both nodes at work ${ahead.toFixed(1)} s after the clock of one was 10 min ahead, ${behind.toFixed(1)} s after it was 10 min behind; with that clock alone after ${alone.toFixed(1)} s`
    ]
  })
})

/**
 * Returns the time according to a node's clock, taken from the start of a schedule preview. Times
 * in records cannot be used, because they come from the database.
 */
const clockOf = async (
  node: Node,
  account: { readonly workspace: string; readonly key: string }
) => {
  const often = new URLSearchParams({ schedule: "*/5 * * * * *", precision: "second", count: "1" })
  const preview = await sendJson(node, "GET", `${account.workspace}/cron/preview?${often}`, {
    token: account.key
  })
  return Date.parse(String(preview.body.data[0].at))
}
