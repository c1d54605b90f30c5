import { Effect } from "effect"
import * as fs from "node:fs"
import * as path from "node:path"
import {
  call,
  eventually,
  temporaryFolder
} from "../../../packages/server/test/support/ServerProcess.ts"
import { type Node, runningOn, startScene } from "../scene/Scene.ts"
import { startPostgres, storeAt } from "../scene/Store.ts"

const preload = path.resolve(
  import.meta.dirname,
  "../../../packages/server/test/support/steppedClock.ts"
)

/** Longer than leases, slots and grace periods, but shorter than the life of an access token. */
const stepMs = 600_000

/**
 * Steps the clock of one of two nodes ahead, then back. While that clock is behind, the other node
 * is killed. The node with the wrong clock must notice.
 */
export const clock = Effect.gen(function* () {
  const offset = path.join(yield* temporaryFolder("clock"), "offset")
  const store = storeAt((yield* startPostgres).url)
  const stepped = {
    ...store,
    env: { ...store.env, NODE_OPTIONS: `--import ${preload}`, CLOCK_OFFSET_FILE: offset }
  }
  const scene = yield* startScene({ nodes: [stepped, store], ask: store.ask })
  const [victim, other] = scene.nodes
  const load = yield* scene.load()

  /** Steps the clock. Returns the seconds until both nodes work again. */
  const step = Effect.fnUntraced(function* (ms: number) {
    fs.writeFileSync(offset, String(ms))
    victim.kill("SIGUSR2")
    yield* eventually(`the clock to be ${ms} ms ahead`, async () => {
      const aheadMs = (await clockOf(victim, scene.account)) - Date.now()
      return Math.abs(aheadMs - ms) < stepMs / 10
    })
    const seconds = yield* scene.recovered([victim, other])
    yield* Effect.sleep("3 seconds")
    return seconds
  })
  const ahead = yield* step(stepMs)
  const behind = yield* step(-stepMs)
  const repeatedBefore = [...scene.sink.calls.values()].filter((count) => count > 1).length

  other.kill("SIGKILL")
  const inFlight = yield* store.ask(runningOn([other]))
  const alone = yield* scene.recovered([victim])
  yield* Effect.sleep("2 seconds")
  return yield* scene.finish({
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

/** A preview begins at the clock of its node. Times of records come from the database. */
const clockOf = async (
  node: Node,
  account: { readonly workspace: string; readonly key: string }
) => {
  const often = new URLSearchParams({ schedule: "*/5 * * * * *", precision: "second", count: "1" })
  const preview = await call(node, "GET", `${account.workspace}/cron/preview?${often}`, {
    token: account.key
  })
  return Date.parse(String(preview.body.data[0].at))
}
