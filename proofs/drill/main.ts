// Drills on real processes. `npm run drill` runs all fault drills, and `npm run drill cut pool`
// runs only the named ones. Three drills take a long time and run only if named: `npm run drill
// usage -- [--runs 100000]`, `npm run drill soak -- --minutes 60 [--clients 100] [--rate 1500]`,
// and `npm run drill neighbours -- --minutes 10 [--store embedded] [--attack "huge chain"]
// [--addresses 3] [--unlimited]`. If a promise is broken, the program prints it and exits with 1.
import { NodeRuntime } from "@effect/platform-node"
import { Cause, Effect, type Scope } from "effect"
import { parseArgs } from "node:util"
import {
  clockSkipReason,
  clusterSkipReason
} from "../../packages/server/test/support/PostgresCluster.ts"
import { clockDrill } from "./faults/clock.ts"
import { cutDrill } from "./faults/cut.ts"
import { databaseClockDrill } from "./faults/databaseClock.ts"
import { diskDrill } from "./faults/disk.ts"
import { failoverDrill } from "./faults/failover.ts"
import { freezeDrill } from "./faults/freeze.ts"
import { killDrill } from "./faults/kill.ts"
import { neighboursDrill } from "./neighbours.ts"
import { poolDrill } from "./faults/pool.ts"
import { restartDrill } from "./faults/restart.ts"
import type { DrillResult } from "./fixture/Fixture.ts"
import { soakDrill } from "./soak.ts"
import { brokenPromises, header, describeObservations, rowOf } from "./table.ts"
import { usageDrill } from "./usage.ts"

/** The promises broken in a drill that prints its own table. */
interface Broken {
  readonly broken: ReadonlyArray<string>
}

/** A drill. If it cannot run on this machine, its result is a string that says why. */
type Drill = Effect.Effect<DrillResult | Broken | string, unknown, Scope.Scope>

const onPostgres = (drill: Drill): Drill =>
  clusterSkipReason === undefined ? drill : Effect.succeed(clusterSkipReason)

const faults: Readonly<Record<string, Drill>> = {
  kill: onPostgres(killDrill),
  freeze: onPostgres(freezeDrill),
  restart: onPostgres(restartDrill),
  failover: onPostgres(failoverDrill),
  cut: onPostgres(cutDrill),
  pool: onPostgres(poolDrill),
  disk: diskDrill,
  clock: onPostgres(clockDrill),
  "database-clock":
    clockSkipReason === undefined ? databaseClockDrill : Effect.succeed(clockSkipReason)
}

const print = (...lines: ReadonlyArray<string>) => Effect.sync(() => console.log(lines.join("\n")))

const run = Effect.fnUntraced(function* (name: string, drill: Drill) {
  const outcome = yield* drill.pipe(Effect.scoped, Effect.exit)
  if (outcome._tag === "Failure") {
    if (Cause.hasInterruptsOnly(outcome.cause)) return yield* Effect.interrupt
    yield* print(`${name}  BROKEN: ${Cause.pretty(outcome.cause)}`)
    return false
  }
  if (typeof outcome.value === "string") {
    yield* print(`${name}  skipped: ${outcome.value}`)
    return true
  }
  const isOutcome = "ledger" in outcome.value
  const broken = isOutcome ? brokenPromises(outcome.value) : outcome.value.broken
  yield* print(
    ...(isOutcome ? [rowOf(name, outcome.value)] : []),
    ...(isOutcome ? describeObservations(outcome.value) : []).map(
      (remark) => `           ${remark}`
    ),
    ...broken.map((promise) => `           BROKEN: ${promise}`)
  )
  return broken.length === 0
})

const program = Effect.gen(function* () {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      minutes: { type: "string", default: "20" },
      runs: { type: "string", default: "100000" },
      clients: { type: "string" },
      rate: { type: "string", default: "0" },
      store: { type: "string", default: "postgres" },
      addresses: { type: "string", default: "3" },
      unlimited: { type: "boolean", default: false },
      attack: { type: "string", multiple: true, default: [] }
    }
  })
  const minutes = Number(values.minutes)
  const clients = values.clients === undefined ? undefined : Number(values.clients)
  const beside = neighboursDrill({
    minutes,
    isEmbedded: values.store === "embedded",
    addresses: Number(values.addresses),
    isUnlimited: values.unlimited,
    only: values.attack
  })
  const drills: Readonly<Record<string, Drill>> = {
    ...faults,
    soak: onPostgres(soakDrill({ minutes, clients, perSecond: Number(values.rate) })),
    usage: onPostgres(usageDrill(Number(values.runs))),
    neighbours: values.store === "embedded" ? beside : onPostgres(beside)
  }
  const names = positionals.length === 0 ? Object.keys(faults) : positionals
  let kept = true
  if (names.some((name) => name in faults)) yield* print(header)
  for (const name of names) {
    const drill = drills[name]
    kept =
      (drill === undefined
        ? yield* Effect.as(print(`${name}  BROKEN: no drill has this name`), false)
        : yield* run(name, drill)) && kept
  }
  if (!kept) process.exitCode = 1
})

NodeRuntime.runMain(program)
