// @tags slow
import { assert, layer } from "@effect/vitest"
import { MonitorId } from "@scheduling/domain/shared/Ids"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { authorize } from "../../../src/accounts/access/authorize.ts"
import { Processes } from "../../../src/monitoring/process/Processes.ts"
import { ProcessReportsRepo } from "../../../src/monitoring/process/ProcessReportsRepo.ts"
import { ask, signUp } from "../../support/http.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import { processClientOf } from "../monitors.ts"
import { processNodeLayerWith } from "./node.ts"

const many = 1_000

/** Creates a thousand workers whose agents are online, and a monitor that covers all of them. */
const setUp = Effect.gen(function* () {
  const member = yield* signUp()
  const sql = yield* SqlClient.SqlClient
  const workers = yield* sql<{ readonly id: string }>`
    WITH sessions AS (
      INSERT INTO nodes (holds_lock, worker_id, lease_until)
      SELECT false, gen_random_uuid(), 'infinity'
      FROM generate_series(1, ${many})
      RETURNING id, worker_id
    )
    INSERT INTO workers (id, workspace_id, name, labels, node_id, created_at, updated_at)
    SELECT worker_id, ${member.workspace_id}, 'web ' || id, '{web}', id, now(), now()
    FROM sessions
    RETURNING id`
  const monitors = processClientOf(member)
  const created = yield* monitors.create({
    name: "nginx",
    labels: ["web"],
    match: { name: "nginx" },
    interval_seconds: 10,
    grace_seconds: 0
  })
  const id = String(created.body.id)

  let decisions = 0
  const counted = Layer.effect(
    ProcessReportsRepo,
    Effect.map(ProcessReportsRepo, (repo) =>
      ProcessReportsRepo.of({
        ...repo,
        summarize: (rows, at) =>
          Effect.andThen(
            Effect.sync(() => decisions++),
            repo.summarize(rows, at)
          )
      })
    )
  ).pipe(Layer.provide(ProcessReportsRepo.layer))
  const { checkDue, report } = yield* Effect.provide(Processes, processNodeLayerWith(counted))

  const workspace_id = authorize(member.workspace_id)
  const sendReports = (some: ReadonlyArray<{ readonly id: string }>, count: number) =>
    Effect.forEach(
      some,
      (worker) =>
        report({ id: worker.id, workspace_id }, [
          { monitor_id: MonitorId.make(id), count, rss_bytes: 0, cpu_percent: null, pids: [] }
        ]),
      { concurrency: 64, discard: true }
    )
  /** Checks the monitor. Returns its status, and how many times all reports were read. */
  const decided = Effect.gen(function* () {
    yield* checkDue
    const { status } = (yield* monitors.get(id)).body
    const seen = { status, decisions }
    decisions = 0
    yield* TestClock.adjust("1 second")
    return seen
  })
  return { id, decided, member, sendReports, workers }
})

layer(testAppLayer(), { timeout: "180 seconds" })("a monitor of a thousand workers", (it) => {
  it.effect(
    "is decided once for all reports of the same moment",
    () =>
      Effect.gen(function* () {
        const { id, decided, member, sendReports, workers } = yield* setUp
        const [last, ...others] = workers
        assert.isDefined(last)
        assert.lengthOf(others, many - 1)
        yield* sendReports(workers, 1)
        assert.deepStrictEqual(yield* decided, { status: "up", decisions: 1 })
        yield* sendReports(workers, 1)
        assert.deepStrictEqual(yield* decided, { status: "up", decisions: 0 })
        yield* sendReports(workers, 0)
        assert.deepStrictEqual(yield* decided, { status: "down", decisions: 1 })
        yield* sendReports(others, 1)
        assert.deepStrictEqual(yield* decided, { status: "down", decisions: 1 })
        yield* sendReports([last], 1)
        assert.deepStrictEqual(yield* decided, { status: "up", decisions: 1 })
        const incidents = yield* ask("GET", `${member.workspace}/incidents?subject_id=${id}`, {
          token: member.access_token
        })
        assert.lengthOf(incidents.body.data, 1)
        assert.match(
          incidents.body.data[0].cause.message,
          /^On web \d+: 0 matching processes are running/
        )
      }),
    180_000
  )
})
