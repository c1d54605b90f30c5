import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import {
  runStates,
  transitions,
  type RunState,
  type Transition
} from "../../../src/engine/RunState.ts"
import { TestDatabaseLayer } from "../../support/TestDatabase.ts"
import { RunQueueLayer } from "../runner/support/engine.ts"
import {
  insertRun,
  type RunRow,
  runsOf,
  createFixture,
  type TransitionCase,
  transitionCases
} from "./fixture.ts"

const namesOf = Object.keys as <Name extends string>(
  of: Readonly<Record<Name, unknown>>
) => Array<Name>

/** Returns a run's state after the transition. Undefined if nothing changes. */
const outcomeOf = Effect.fnUntraced(function* (
  state: RunState | "new",
  inQueue: boolean,
  transitionCase: TransitionCase
) {
  const sql = yield* SqlClient.SqlClient
  const fixture = yield* createFixture(inQueue, transitionCase.task)
  const id = state === "new" ? "" : yield* insertRun(fixture, state, transitionCase.columns)
  const [before] = yield* runsOf(fixture)
  const none: RunRow = { id, state: "ready", attempt: 1, lease_owner: null, row: "" }
  yield* transitionCase.apply(sql, fixture, before ?? none)
  const [after] = yield* runsOf(fixture)
  if (state === "new") return after?.state
  if (after !== undefined) return after.row === before?.row ? undefined : after.state
  const history = yield* sql`SELECT FROM executions WHERE id = ${id}`
  return history.length === 0 ? "withdrawn" : "finished"
})

const outcomesOf = Effect.fnUntraced(function* (name: Transition, state: RunState | "new") {
  const outcomes = new Set<string>()
  for (const transitionCase of transitionCases[name]) {
    const addsRun =
      transitionCase.task !== undefined || ["enqueue", "rerun", "backfill"].includes(name)
    if (addsRun !== (state === "new")) continue
    for (const inQueue of [true, false]) {
      const outcome = yield* outcomeOf(state, inQueue, transitionCase)
      if (outcome !== undefined) outcomes.add(outcome)
    }
  }
  return [...outcomes]
})

layer(RunQueueLayer.pipe(Layer.provideMerge(TestDatabaseLayer)), { excludeTestServices: true })(
  "the table of transitions",
  (it) => {
    it.effect.each(namesOf(transitions))(
      "says where %s leads from each state, and where it does nothing",
      (name) =>
        Effect.gen(function* () {
          const table: Partial<Record<RunState | "new", ReadonlyArray<string>>> = transitions[name]
          for (const state of ["new", ...runStates] as const) {
            assert.sameMembers(yield* outcomesOf(name, state), [...(table[state] ?? [])], state)
          }
        })
    )

    it.effect("has the states that the database lets a run have", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [check] = yield* sql<{ readonly text: string }>`
          SELECT pg_get_constraintdef(oid) AS text
          FROM pg_constraint
          WHERE conname = 'runs_state_check'`
        const allowed = [...(check?.text ?? "").matchAll(/'(\w+)'::text/g)].map(
          ([, state]) => state
        )
        assert.sameMembers(allowed, [...runStates])
      })
    )

    it.effect("lets a run start without a new entry in any index", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const changed = ["state", "started_at", "attempt_started_at"]
        const rows = yield* sql`
          SELECT pg_get_indexdef(indexrelid) AS index
          FROM pg_index
          WHERE indrelid = 'runs'::regclass
            AND pg_get_indexdef(indexrelid) ~ ${`\\m(${changed.join("|")})\\M`}`
        assert.isEmpty(rows)
      })
    )
  }
)
