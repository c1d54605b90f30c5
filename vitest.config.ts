import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { testsByStore } from "./scripts/tests-of-store.ts"

/**
 * These tests start several nodes and measure how soon they act, so nothing else runs beside them.
 */
const onItsOwn = [
  "packages/server/test/runner/{Burst,Nodes,Restart,Seconds}.test.ts",
  "packages/server/test/queue/admitting/Nodes.test.ts"
]

/** These tests start the service, or npm, as processes. */
const processes = [
  "packages/server/test/{npmStart,process,processPostgres}.test.ts",
  "packages/server/test/completions/death.test.ts",
  "packages/server/test/notifications/{EndToEnd,Killed,KilledEmbedded,callbacks}.test.ts",
  "packages/server/test/operator/{account,backup,move,moveRows}.test.ts",
  "packages/server/test/sql/{embeddedDurability,embeddedTemplate}.test.ts",
  "packages/server/test/workers/{agents,agentsAway,privateNetwork}.test.ts",
  "packages/sdk/test/{examples,readme,server}.test.ts"
]

/** Those of them that do the same on both stores, by the store on which it is harder for them. */
const processesOf = {
  embedded: ["packages/server/test/process.test.ts"],
  postgres: [
    "packages/server/test/completions/death.test.ts",
    "packages/server/test/notifications/{EndToEnd,callbacks}.test.ts",
    "packages/server/test/workers/{agents,privateNetwork}.test.ts"
  ]
}

/** These tests start stores of their own, or migrate them again and again. */
const stores = [
  "packages/server/test/sql/{EmbeddedPostgres,embeddedConnection,emptyDatabase,upgrade}.test.ts"
]

/** These tests let thousands of things happen, hours pass in trouble, or all clocks change. */
const storms = [
  "packages/domain/test/schedules/ScheduleClockChanges.test.ts",
  "packages/server/test/auth/sessions/crowd.test.ts",
  "packages/server/test/calendars/daysOfCalendar.test.ts",
  "packages/server/test/monitors/process/thousand.test.ts",
  "packages/server/test/platform/scheduleFile.test.ts",
  "packages/server/test/queue/{Fairness,History}.test.ts",
  "packages/server/test/notifications/{Notifier,troubledChannels}.test.ts",
  "packages/server/test/outbox/CallbackProbe.test.ts",
  "packages/server/test/system/Resealing.test.ts",
  "proofs/fuzz/fuzz.test.ts"
]

/** These tests try again and again until things happen at the same moment. */
const races = [
  "packages/server/test/monitors/heartbeat/Races.test.ts",
  "packages/server/test/queue/Slots.test.ts",
  "packages/server/test/queue/chains/ChainStops.test.ts"
]

/** These tests wait for what takes seconds by a clock that no test can move. */
const waits = [
  "packages/calls/test/CallFaults.test.ts",
  "packages/server/test/completions/{callbacks,queues}.test.ts",
  "packages/server/test/executions/rollUp.test.ts",
  "packages/server/test/monitors/ssl/records.test.ts",
  "packages/server/test/platform/collector/otlp.test.ts",
  "packages/server/test/queue/admitting/Admitting.test.ts",
  "packages/server/test/runner/LargeCalls.test.ts",
  "packages/server/test/signing/lostSecrets.test.ts"
]

/** These tests go from endpoint to endpoint, most of them with everything that is hostile. */
const walks = [
  "packages/server/test/adversarial/**/*.test.ts",
  "packages/server/test/http/{headers,answers/errors}.test.ts"
]

/**
 * `npm test` is quick because it leaves these out. `npm run test:all` and CI run them, and
 * naming a file finds it wherever it is.
 */
const isFileNamed = process.argv.slice(2).some((word) => word !== "run" && !word.startsWith("-"))
const leftOut = isFileNamed
  ? []
  : [...walks, ...processes, ...stores, ...storms, ...races, ...waits, ...onItsOwn]

const service = ["{packages/*/test,proofs}/**/*.test.ts"]

/**
 * The halves of CI. Tests that use no store run in the first alone, and the longest of the others
 * in the second alone: what many do at once is hardest on the store that lets them.
 */
const elsewhere: Readonly<Record<string, () => ReadonlyArray<string>>> = {
  embedded: () => [
    ...testsByStore([...storms, ...races, ...waits, ...walks]).withStore,
    ...processesOf.postgres
  ],
  postgres: () => [...testsByStore(service).withoutStore, ...processesOf.embedded]
}

const ofOtherHalf = elsewhere[process.env["CI_HALF"] ?? ""]?.() ?? []

/**
 * These files take longest. If they started last, everything would wait for them. In this order,
 * few of those that start processes run at the same time.
 */
const long = [
  "notifications/KilledEmbedded.test.ts",
  "workers/agents.test.ts",
  "notifications/Killed.test.ts",
  "server/test/process.test.ts",
  "notifications/callbacks.test.ts",
  "adversarial/hostileJson.test.ts",
  "adversarial/foreignIds.test.ts",
  "server/test/npmStart.test.ts",
  "notifications/Notifier.test.ts",
  "adversarial/costlyBodies.test.ts",
  "sdk/test/examples.test.ts",
  "operator/account.test.ts",
  "operator/backup.test.ts",
  "operator/moveRows.test.ts",
  "server/test/processPostgres.test.ts",
  "sql/embeddedDurability.test.ts"
]

/**
 * These files wait by the clock of the machine most of their time. While several of them run, a
 * core is idle.
 */
const idle = [
  "server/test/queue/Runs.test.ts",
  "server/test/runner/EndToEnd.test.ts",
  "queue/ending/Stopping.test.ts",
  "executions/stats.test.ts",
  "monitors/process/records.test.ts",
  "workers/tokens.test.ts",
  "egress/HostNames.test.ts",
  "admitting/Settling.test.ts",
  "notifications/kinds.test.ts",
  "test/http/Waiting.test.ts",
  "events/told.test.ts",
  "server/NodeServer.test.ts",
  "events/bounds.test.ts",
  "sql/batched.test.ts",
  "executions/wait.test.ts"
]

const placeIn = (names: ReadonlyArray<string>, { moduleId }: TestSpecification) =>
  names.findIndex((name) => moduleId.endsWith(name))

/**
 * The long files start first. The others follow by how long they took here the last time, or by
 * size, with those that are idle spread among them.
 */
class LongFilesFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    // oxlint-disable-next-line unicorn/no-array-sort -- it is Vitest's own
    const byDuration = await super.sort(files)
    const first = byDuration
      .filter((file) => placeIn(long, file) !== -1)
      .toSorted((one, other) => placeIn(long, one) - placeIn(long, other))
    const others = byDuration.filter((file) => placeIn(long, file) === -1)
    const spread = others.filter((file) => placeIn(idle, file) !== -1)
    const rest = others.filter((file) => placeIn(idle, file) === -1)
    const between = rest.length / spread.length
    const placed = [
      ...rest.map((file, at) => ({ file, at })),
      ...spread.map((file, nth) => ({ file, at: nth * between - 0.5 }))
    ].toSorted((one, other) => one.at - other.at)
    return [...first, ...placed.map(({ file }) => file)]
  }
}

export default defineConfig({
  test: {
    // The files of a worker share its modules and its embedded store, which is emptied for each
    // file.
    isolate: false,
    // Compiled modules are kept between runs, by their content.
    fsModuleCache: true,
    sequence: { sequencer: LongFilesFirst },
    // The longest test takes a few seconds if it runs alone, and on the slow cores of CI, beside a
    // browser, half a minute. A file starts a database and a server first.
    testTimeout: process.env["CI"] === undefined ? 30_000 : 120_000,
    hookTimeout: 90_000,
    // CI's machine may stand still for seconds. What passes only the second time is a bug all the
    // same, so CI lists it.
    retry: process.env["CI"] === undefined ? 0 : 1,
    // The server loads this first too, so what is tested is what runs.
    setupFiles: ["effect/schema/SchemaJITCompiler/enable", "./scripts/record-statements.ts"],
    projects: [
      {
        extends: true,
        test: {
          name: "service",
          include: service,
          exclude: [...onItsOwn, ...leftOut, ...ofOtherHalf],
          globalSetup: [
            "./packages/server/test/support/storeFiles.ts",
            "./packages/server/test/support/dropDatabases.ts"
          ],
          // More than there are cores, because tests wait: for processes, for a store in a thread of
          // its own, and longest for one in another process.
          maxWorkers: availableParallelism() + (process.env["CI_HALF"] === "postgres" ? 2 : 1),
          sequence: { groupOrder: 0 }
        }
      },
      {
        extends: true,
        test: {
          name: "cluster",
          include: onItsOwn,
          exclude: leftOut,
          testTimeout: 120_000,
          maxWorkers: 1,
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
