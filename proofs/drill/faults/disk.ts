import { Effect } from "effect"
import { startSink } from "../../../packages/server/test/engine/runner/support/processes.ts"
import {
  sendJson,
  eventually,
  type ServerProcess
} from "../../../packages/server/test/support/ServerProcess.ts"
import { smallDiskSkipReason, smallDisk } from "../../../packages/server/test/support/smallDisk.ts"
import { checkRuns } from "../fixture/RunCheck.ts"
import { type Account, Ledger, openAccount, startLoad } from "../fixture/Load.ts"
import {
  findDelays,
  findFailures,
  findHangs,
  findUnexpectedResponses
} from "../fixture/promises.ts"
import { type DrillResult, startNode } from "../fixture/Fixture.ts"
import { embeddedStore } from "../fixture/Store.ts"

/** The size of the disk. The embedded store uses 60 to 100 MB. */
const diskMegabytes = 200

const fullForSeconds = 5

/** Completely fills the embedded store's disk for a while, and then frees space. */
export const diskDrill = Effect.gen(function* () {
  if (smallDiskSkipReason !== undefined) return smallDiskSkipReason
  const { fill, folder, free } = yield* smallDisk(diskMegabytes)
  const store = embeddedStore(folder)
  const sink = yield* startSink(() => 250)
  const node = yield* startNode(store)
  const account = yield* openAccount(node, sink.url)
  const ledger = new Ledger()
  const load = yield* startLoad({ nodes: [node], account, sinkUrl: sink.url, ledger })
  yield* eventually("a load", async () => ledger.acknowledged >= 200)

  const startedMs = performance.now()
  const filled = yield* fill
  const turnedAway = () => ledger.answers().get("503") ?? 0
  yield* eventually("a disk that is missed", async () => turnedAway() > 0, 30_000)
  yield* Effect.sleep(fullForSeconds * 1000)
  yield* free
  const awaySeconds = (performance.now() - startedMs) / 1000
  const seconds = yield* recovered(node, account, sink.url)
  yield* Effect.sleep("3 seconds")

  yield* load.stop
  yield* Effect.sleep("3 seconds")
  const until = new Date()
  yield* waitUntilIdle(node, account)
  const broken = findFailures(node).filter((line) => !line.includes("The embedded store stopped"))
  node.kill("SIGTERM")
  const exitCode = yield* node.exited
  const recovery = { seconds, withinSeconds: 20, awaySeconds }
  const outcome: DrillResult = {
    ledger,
    audit: yield* checkRuns(store.ask, account, ledger, sink.calls, until),
    inFlight: 0,
    recovery,
    notes: [
      `a tmpfs of ${diskMegabytes} MB was full for ${awaySeconds.toFixed(1)} s, ${filled.toFixed(0)} MB of it filled by the drill`,
      `the store was restarted ${node.stdout().split("The embedded store stopped").length - 1} times`
    ],
    broken: [
      ...findDelays(ledger, recovery),
      ...findHangs(ledger),
      ...findUnexpectedResponses(ledger),
      ...broken,
      ...(exitCode === 0 ? [] : [`the node exited with ${exitCode}`])
    ]
  }
  return outcome
})

const recovered = Effect.fnUntraced(function* (
  node: ServerProcess,
  account: Account,
  sinkUrl: string
) {
  const startedMs = performance.now()
  const ask = async (method: string, at: string, body?: object) =>
    (await sendJson(node, method, account.workspace + at, { token: account.key, body })).body
  const id = yield* eventually("an acknowledgement", async () => {
    const name = crypto.randomUUID()
    const created = await ask("POST", "/delayed", { name, url: sinkUrl, delay_seconds: 0 })
    return created.id as string | undefined
  })
  yield* eventually("a run", async () => (await ask("GET", `/delayed/${id}`)).status === "finished")
  return (performance.now() - startedMs) / 1000
})

/** Polls the node until no work is left, because the drill cannot open the node's store. */
const waitUntilIdle = (node: ServerProcess, account: Account) =>
  eventually("the end of all runs", async () => {
    const counts = await Promise.all(
      ["queued", "running"].map(async (status) => {
        const at = `${account.workspace}/executions?status=${status}&limit=1`
        const { body } = await sendJson(node, "GET", at, { token: account.key })
        return body.data.length as number
      })
    )
    return counts.every((count) => count === 0)
  })
