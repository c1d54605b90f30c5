import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { steppableClock } from "../../../packages/server/test/support/PostgresCluster.ts"
import { sendJson, eventually } from "../../../packages/server/test/support/ServerProcess.ts"
import { startFixture } from "../fixture/Fixture.ts"
import { startPostgresWith, postgresStore } from "../fixture/Store.ts"

const hourMs = 3_600_000

/**
 * The time after which nodes accept a clock step. They notice it within 10 s and accept it 30 s
 * later.
 */
const acceptedAfter = "45 seconds"

const goesOnWithinMs = 60_000

/**
 * Under load, steps the clock of the database's host an hour ahead for 20 s, and an hour back for
 * 20 s. No run may be lost or repeated. Then the clock stays ahead until the nodes accept it, and
 * is corrected. Within a minute, all tasks must fire at the correct times again, and no slot may
 * fire twice.
 */
export const databaseClockDrill = Effect.gen(function* () {
  const { env, setAhead } = yield* steppableClock
  const store = postgresStore((yield* startPostgresWith(env)).url)
  const fixture = yield* startFixture({ nodes: [store, store], ask: store.ask })
  const load = yield* fixture.load()

  const allAnswer = (what: string, status: number) =>
    eventually(
      what,
      async () => {
        const answers = await Promise.all(
          fixture.nodes.map((node) => sendJson(node, "GET", "/v1/ready?deep=1"))
        )
        return answers.every((answer) => answer.status === status)
      },
      goesOnWithinMs
    )

  /** Steps the clock for a while. Returns the seconds until work resumes after the correction. */
  const stepBriefly = Effect.fnUntraced(function* (ms: number) {
    yield* setAhead(ms)
    yield* allAnswer("nodes that notice the step", 503)
    yield* Effect.sleep("18 seconds")
    yield* setAhead(0)
    const startedMs = performance.now()
    yield* allAnswer("nodes that are ready", 200)
    yield* fixture.recovered(fixture.nodes)
    return (performance.now() - startedMs) / 1_000
  })
  const ahead = yield* stepBriefly(hourMs)
  const back = yield* stepBriefly(-hourMs)
  const repeated = [...fixture.sink.calls.values()].filter((count) => count > 1).length
  const outcome = yield* fixture.finish({
    load,
    alive: fixture.nodes,
    inFlight: 0,
    // Requests are still served during the step, but due runs wait until the clock is correct
    // again.
    recovery: { seconds: Math.max(ahead, back), withinSeconds: 20 },
    mayLog: "the database clock was stepped",
    broken: repeated === 0 ? [] : [`${repeated} calls were repeated because of a clock`],
    notes: [
      `work resumed ${ahead.toFixed(1)} s after a step ahead was corrected, ${back.toFixed(1)} s after a step back`
    ]
  })

  yield* setAhead(hourMs)
  yield* Effect.sleep(acceptedAfter)
  yield* allAnswer("nodes that believe the step", 200)
  const [{ fired_ahead = 0 } = {}] = yield* store.ask(firedAhead)
  yield* setAhead(0)
  const startedMs = performance.now()
  yield* eventually(
    "tasks that fire within a minute",
    async () => {
      const [row] = await Effect.runPromise(store.ask(firesLate))
      return row?.tasks === 0
    },
    goesOnWithinMs
  )
  const seconds = (performance.now() - startedMs) / 1_000
  yield* allAnswer("nodes that are ready", 200)
  // Each task has at least one slot in this period.
  yield* Effect.sleep("65 seconds")
  const [{ slots = 0, twice = 0 } = {}] = yield* store.ask(slotsSince(seconds + 65))
  return {
    ...outcome,
    notes: [
      ...outcome.notes,
      `${fired_ahead} slots fired early while the wrong time was accepted; the correct time was accepted after ${seconds.toFixed(1)} s, and ${slots} slots fired in the following minute`
    ],
    broken: [
      ...outcome.broken,
      ...(fired_ahead === 0 ? ["the wrong time was never accepted"] : []),
      ...(slots === 0 ? ["nothing fired after the clock was corrected"] : []),
      ...(twice === 0 ? [] : [`${twice} slots fired twice`])
    ]
  }
})

const firedAhead = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly fired_ahead: number }>`
    SELECT count(*)::int AS fired_ahead
    FROM executions
    WHERE trigger = 'schedule'
      AND kind = 'cron'
      AND scheduled_for > now() - interval '1 minute'`
)

/** Counts the tasks that should fire every minute but will not fire within the next minute. */
const firesLate = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql<{ readonly tasks: number }>`
    SELECT count(*)::int AS tasks
    FROM tasks
    WHERE next_fire_at > now() + interval '1 minute'`
)

const slotsSince = (seconds: number) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly slots: number; readonly twice: number }>`
      SELECT
        (count(*) FILTER (WHERE last BETWEEN now() - ${seconds} * interval '1 second' AND now()))::int AS slots,
        (count(*) FILTER (WHERE fired > 1))::int AS twice
      FROM (
        SELECT count(*) AS fired, scheduled_for AS last
        FROM executions
        WHERE trigger = 'schedule'
          AND kind = 'cron'
        GROUP BY task_id, scheduled_for
      ) AS slots`
  )
