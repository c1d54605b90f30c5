import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { inState } from "../../engine/transitions/inState.ts"
import { removeReplacedVersions } from "../../../src/engine/chains/ChainVersions.ts"
import { finishRun } from "../executions/history.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { alarmStep, storedStep, setUpChains, closeStep, loginStep } from "./chains.ts"

/** Counts a chain's versions and their steps. */
const kept = (chainId: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql<{ readonly versions: number; readonly steps: number }>`
      SELECT count(DISTINCT chain_versions.id)::int AS versions, count(version_id)::int AS steps
      FROM chain_versions
      LEFT JOIN chain_steps ON chain_steps.version_id = chain_versions.id
      WHERE chain_id = ${chainId}`
  ).pipe(Effect.map(([row]) => row))

layer(testAppLayer())("versions of a chain", (it) => {
  it.effect("are deleted by the change that replaces them, except those of started runs", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const sql = yield* SqlClient.SqlClient
      const { body: chain } = yield* chains.create()
      for (const steps of [[loginStep], [loginStep, closeStep]])
        yield* chains.update(chain.id, { steps })
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 1, steps: 2 })
      yield* chains.update(chain.id, { name: "Renamed" })
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 1, steps: 2 })

      const { body: run } = yield* chains.act(chain.id, "run")
      yield* sql`
        UPDATE runs
        SET
          ${sql.update(inState("running"))},
          version_id = (SELECT version_id FROM tasks WHERE id = ${chain.id})
        WHERE id = ${run.id}`
      yield* chains.update(chain.id, { steps: [loginStep] })
      yield* sql`
        UPDATE chain_versions
        SET replaced_at = replaced_at - interval '1 hour'`
      yield* removeReplacedVersions(sql)
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 2, steps: 3 })

      yield* finishRun(run.id)
      yield* removeReplacedVersions(sql)
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 1, steps: 1 })
    })
  )

  it.effect("stay for some minutes, because a run may just be starting with them", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const sql = yield* SqlClient.SqlClient
      const { body: chain } = yield* chains.create()
      yield* chains.act(chain.id, "run")
      yield* chains.update(chain.id, { steps: [loginStep] })
      yield* removeReplacedVersions(sql)
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 2, steps: 4 })
      yield* sql`
        UPDATE chain_versions
        SET replaced_at = replaced_at - interval '6 minutes'`
      yield* removeReplacedVersions(sql)
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 1, steps: 1 })
    })
  )

  it.effect("are deleted with the chain", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      yield* chains.act(chain.id, "run")
      assert.strictEqual((yield* chains.remove(chain.id)).status, 204)
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 0, steps: 0 })
    })
  )

  it.effect("are exactly one of those that were given concurrently", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const given = [[loginStep], [loginStep, closeStep], [loginStep, closeStep, alarmStep]]
      const answers = yield* Effect.forEach(
        [...given, ...given],
        (steps) => chains.update(chain.id, { steps }),
        { concurrency: "unbounded" }
      )
      for (const [index, { body, status }] of answers.entries()) {
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body.steps, given[index % 3]?.map(storedStep))
      }
      const { body } = yield* chains.get(chain.id)
      assert.include([1, 2, 3], body.steps.length)
      assert.deepStrictEqual(body.steps, given[body.steps.length - 1]?.map(storedStep))
      assert.deepStrictEqual(yield* kept(chain.id), { versions: 1, steps: body.steps.length })

      // An update that waits for another update's lock keeps the other update's steps.
      const [, renamed] = yield* Effect.all(
        [
          chains.update(chain.id, { steps: [loginStep] }),
          chains.update(chain.id, { name: "Renamed" })
        ],
        { concurrency: 2 }
      )
      assert.isNotEmpty(renamed.body.steps)
      assert.strictEqual((yield* chains.get(chain.id)).body.name, "Renamed")
    })
  )
})
