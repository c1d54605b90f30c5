import type { Actor } from "@scheduling/domain/shared/Actor"
import { advanceUntil } from "../support/advanceUntil.ts"
import { dayOf } from "@scheduling/domain/billing/Usage"
import { assert, describe, it, layer } from "@effect/vitest"
import { Clock, Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import { firstOfMonth, newlyReachedPercent } from "../../src/plans/nearLimits.ts"
import { ask, logIn, type Member, statusAndError, signUp, times } from "../support/http.ts"
import { leap } from "../support/leap.ts"
import { insertRuns, runAt } from "../tasks/executions/history.ts"
import { eventually } from "../engine/runner/support/tasks.ts"
import { TestClock } from "effect/testing"
import { startNode, TestApp, testAppLayer, testConfig, testNow } from "../support/TestApp.ts"
import {
  billingClientOf,
  deliverWebhook,
  FixtureLayer,
  checkoutSessionIdOf,
  BillingFixture,
  pollUntil
} from "./support/fixture.ts"

const url = "https://example.com"
const cron = { name: "a task", url, schedule: "0 0 1 1 *" }

const post = (member: Member, path: string, body: object = {}) =>
  ask("POST", `${member.workspace}/${path}`, { token: member.access_token, body })

const activeOf = (member: Member) =>
  Effect.map(
    ask("GET", `${member.workspace}/cron?status=active`, { token: member.access_token }),
    ({ body }) => body.data.map(({ id }: { readonly id: string }) => id) as ReadonlyArray<string>
  )

/** Pauses a task as an earlier plan would have paused it. */
const pauseByPlan = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    WITH paused AS (
      UPDATE tasks
      SET status = 'paused', next_fire_at = NULL
      WHERE id = ${id}
      RETURNING id, workspace_id
    )
    INSERT INTO plan_pauses (task_id, workspace_id, paused_at)
    SELECT id, workspace_id, now()
    FROM paused`
})

const announced = Effect.fnUntraced(function* (member: Member, event: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly subject_id: string; readonly reason: string }>`
    SELECT subject_id, data ->> 'reason' AS reason
    FROM outbox
    WHERE workspace_id = ${member.workspace_id}
      AND event = ${event}
    ORDER BY ordinal`
})

/** Returns the actions that the audit log attributes to the plan. */
const actions = Effect.fnUntraced(function* (member: Member) {
  const { body } = yield* ask("GET", `${member.workspace}/audit?limit=100`, {
    token: member.access_token
  })
  return body.data
    .filter(({ actor }: { readonly actor: Actor | null }) => actor?.kind === "plan")
    .map(({ action }: { readonly action: string }) => action) as ReadonlyArray<string>
})

describe("a notice about a nearly used limit", () => {
  it.each([
    [7, 10, undefined],
    [8, 10, 80],
    [9, 10, undefined],
    [10, 10, 100],
    [11, 10, undefined],
    [1, 1, 100],
    [4, 5, 80],
    [5, 6, 80]
  ])("with %d of %d: %s %%", (used, limit, percent) => {
    assert.strictEqual(newlyReachedPercent(used, limit), percent)
  })

  it("counts months in UTC", () => {
    assert.strictEqual(firstOfMonth(new Date("2026-06-30T23:59:59Z")), "2026-06-01")
  })
})

layer(FixtureLayer, { timeout: "60 seconds" })(
  "a workspace with more than its plan allows",
  (it) => {
    it.effect("keeps all tasks, with the newest paused until the plan allows them again", () =>
      Effect.gen(function* () {
        const { stripe } = yield* BillingFixture
        const owner = yield* signUp()
        const { body } = yield* billingClientOf(owner).checkout("price_max")
        const bought = stripe.pay(checkoutSessionIdOf(body.url))
        const deliverEvents = Effect.forEach(stripe.events.splice(0), (event) =>
          deliverWebhook(stripe.sign(event))
        )
        yield* deliverEvents
        yield* pollUntil(billingClientOf(owner).get, (got) => got.body.plan.id === "max")
        const made = yield* Effect.forEach(
          times(6, () => 0),
          () => post(owner, "cron", cron)
        )
        const ids = made.map((answer): string => answer.body.id)
        const own = yield* post(owner, `cron/${ids[0]}/pause`)
        assert.strictEqual(own.body.status, "paused")

        assert(bought !== undefined)
        bought.status = "canceled"
        stripe.change(bought)
        for (const event of stripe.events.splice(0)) yield* deliverWebhook(stripe.sign(event))
        yield* pollUntil(activeOf(owner), (active) => active.length === 2)
        // The oldest tasks remain active. Tasks that users have paused remain paused.
        assert.deepStrictEqual(yield* activeOf(owner), ids.slice(1, 3).toReversed())
        const disabled = yield* announced(owner, "task.paused")
        assert.sameMembers(
          disabled.map(({ subject_id }) => subject_id),
          ids.slice(3)
        )
        assert.strictEqual(disabled[0]?.reason, "The plan free allows 2 active cron tasks.")
        assert.include(yield* actions(owner), "cron_task.paused")

        const refused = yield* post(owner, `cron/${ids[5]}/resume`)
        assert.strictEqual(statusAndError(refused), "402 quota_exceeded")
        // When an active task is paused, the next task that the plan paused is resumed within a
        // minute.
        yield* post(owner, `cron/${ids[1]}/pause`)
        yield* advanceUntil("1 minute", activeOf(owner), (active) => active.includes(ids[3] ?? ""))

        const again = yield* billingClientOf(owner).checkout("price_max")
        stripe.pay(checkoutSessionIdOf(again.body.url))
        for (const event of stripe.events.splice(0)) yield* deliverWebhook(stripe.sign(event))
        yield* pollUntil(activeOf(owner), (active) => active.length === 4)
        assert.deepStrictEqual(yield* activeOf(owner), ids.slice(2).toReversed())
        assert.include(yield* actions(owner), "cron_task.resumed")
      })
    )

    it.effect("pauses tasks that fire too often until their schedule or the plan changes", () =>
      Effect.gen(function* () {
        const { stripe } = yield* BillingFixture
        const owner = yield* signUp()
        const buy = Effect.gen(function* () {
          const { body } = yield* billingClientOf(owner).checkout("price_max")
          const bought = stripe.pay(checkoutSessionIdOf(body.url))
          assert(bought !== undefined)
          for (const event of stripe.events.splice(0)) yield* deliverWebhook(stripe.sign(event))
          return bought
        })
        const bought = yield* buy
        yield* pollUntil(billingClientOf(owner).get, (got) => got.body.plan.id === "max")
        const often = { ...cron, schedule: "*/2 0 1 1 *" }
        const { body: hasty } = yield* post(owner, "cron", often)
        const { body: other } = yield* post(owner, "cron", { ...often, name: "another" })
        const { body: calm } = yield* post(owner, "cron", cron)
        const { body: chain } = yield* post(owner, "chains", {
          name: "a chain",
          schedule: "*/2 0 1 1 *",
          steps: [{ name: "first", url }]
        })

        bought.status = "canceled"
        stripe.change(bought)
        for (const event of stripe.events.splice(0)) yield* deliverWebhook(stripe.sign(event))
        yield* pollUntil(announced(owner, "task.paused"), (rows) => rows.length === 3)
        assert.deepStrictEqual(yield* activeOf(owner), [calm.id])
        const [first, ...more] = yield* announced(owner, "task.paused")
        assert.sameMembers(
          [first, ...more].map((row) => row?.subject_id),
          [hasty.id, other.id, chain.id]
        )
        assert.strictEqual(
          first?.reason,
          "The plan free allows schedules to fire at most once every 300 seconds."
        )
        const refused = yield* post(owner, `cron/${hasty.id}/resume`)
        assert.strictEqual(refused.body.detail.quota, "shortest_interval_seconds")

        yield* ask("PATCH", `${owner.workspace}/cron/${hasty.id}`, {
          token: owner.access_token,
          body: { schedule: "*/5 0 1 1 *" }
        })
        yield* advanceUntil("1 minute", activeOf(owner), (active) => active.length === 2)
        assert.deepStrictEqual(yield* activeOf(owner), [calm.id, hasty.id])

        yield* buy
        yield* pollUntil(activeOf(owner), (active) => active.length === 3)
        // Chains are paused in a separate transaction, after the cron tasks.
        const chainNow = ask("GET", `${owner.workspace}/chains/${chain.id}`, {
          token: owner.access_token
        })
        yield* pollUntil(chainNow, ({ body }) => body.status === "active")
      })
    )

    it.effect("is checked even if the check of another workspace fails", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [broken, owner] = [yield* signUp(), yield* signUp()]
        yield* post(broken, "cron", cron)
        const { body: task } = yield* post(owner, "cron", cron)
        yield* pauseByPlan(task.id)
        yield* sql`
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            RAISE EXCEPTION 'not this one';
          END
          $$`
        yield* sql`
          CREATE TRIGGER refuse
          BEFORE UPDATE ON tasks
          FOR EACH ROW
          WHEN (NEW.workspace_id = ${sql.literal(`'${broken.workspace_id}'`)})
          EXECUTE FUNCTION refuse()`
        yield* sql`
          INSERT INTO usage_days (workspace_id, day, executions)
          VALUES (${broken.workspace_id}, ${dayOf(testNow)}::date, 100)
          ON CONFLICT (workspace_id, day) DO UPDATE
          SET executions = EXCLUDED.executions`
        yield* advanceUntil("1 minute", activeOf(owner), (active) => active.includes(task.id))
        const { logs } = yield* TestApp
        const failed = `enforcing plans: failed: workspace ${broken.workspace_id}: `
        yield* advanceUntil(
          "1 minute",
          Effect.sync(() => logs),
          (lines) => lines.some((line) => line.includes(failed))
        )
        yield* sql`DROP TRIGGER refuse ON tasks`
        yield* advanceUntil("1 minute", activeOf(broken), (active) => active.length === 0)
      })
    )

    it.effect(
      "has its tasks paused until the next month when the month's executions are used up",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          let owner: Member = yield* signUp()
          const { body: task } = yield* post(owner, "cron", cron)
          const { body: chain } = yield* post(owner, "chains", {
            name: "a chain",
            steps: [{ name: "first", url }]
          })
          assert.strictEqual(chain.status, "active")
          const use = (executions: number) => sql`
        INSERT INTO usage_days (workspace_id, day, executions)
        VALUES (${owner.workspace_id}, ${dayOf(testNow)}::date, ${executions})
        ON CONFLICT (workspace_id, day) DO UPDATE
        SET executions = EXCLUDED.executions`
          yield* use(85)
          yield* advanceUntil(
            "1 minute",
            announced(owner, "quota.near"),
            (rows) => rows.length === 1
          )
          assert.lengthOf(yield* activeOf(owner), 1)
          yield* use(100)
          assert.strictEqual(
            (yield* post(owner, `cron/${task.id}/run`)).body.detail.quota,
            "executions_a_month"
          )
          assert.strictEqual(
            statusAndError(yield* post(owner, "delayed", { url, delay_seconds: 60 })),
            "402 quota_exceeded"
          )
          yield* advanceUntil("1 minute", activeOf(owner), (active) => active.length === 0)
          const notifications = yield* advanceUntil(
            "1 minute",
            announced(owner, "quota.near"),
            (rows) => rows.length === 2
          )
          assert.deepStrictEqual(
            notifications.map(({ reason }) => reason),
            ["80% of the limit is used: 85 of 100.", "100% of the limit is used: 100 of 100."]
          )
          yield* leap("31 days")
          const { body } = yield* logIn(owner.email)
          owner = { ...owner, access_token: body.access_token }
          yield* advanceUntil("1 minute", activeOf(owner), (active) => active.length === 1)
          assert.strictEqual((yield* post(owner, `cron/${task.id}/run`)).status, 202)
        })
    )

    it.effect(
      "has its tasks paused seconds after the monthly limit, by the count that it sees",
      () =>
        Effect.gen(function* () {
          const owner = yield* signUp()
          yield* post(owner, "cron", cron)
          const today = dayOf(yield* Clock.currentTimeMillis)
          const shown = Effect.gen(function* () {
            const { body: billing } = yield* billingClientOf(owner).get
            const { body: usage } = yield* ask(
              "GET",
              `${owner.workspace}/billing/usage?from=${today}`,
              { token: owner.access_token }
            )
            const month = billing.usage.find(
              ({ quota }: { readonly quota: string }) => quota === "executions_a_month"
            )
            return [month.used, usage.data[0].executions]
          })
          const end = (count: number) =>
            Effect.flatMap(Clock.currentTimeMillis, (now) =>
              insertRuns(times(count, () => runAt(now, { workspace_id: owner.workspace_id })))
            )
          yield* end(12)
          assert.deepStrictEqual(yield* shown, [12, 12])
          yield* end(88)
          assert.deepStrictEqual(yield* shown, [100, 100])
          // Counting starts at most three seconds later and waits for one second. On a busy
          // machine, the loop may not be sleeping yet when the clock moves.
          const isPaused = Effect.gen(function* () {
            yield* TestClock.adjust("1 second")
            return yield* TestClock.withLive(
              Effect.exit(eventually(activeOf(owner), (active) => active.length === 0, 20))
            )
          })
          const paused = yield* Effect.repeat(isPaused, { until: Exit.isSuccess, times: 30 })
          assert.isTrue(Exit.isSuccess(paused))
          assert.deepStrictEqual(yield* shown, [100, 100])
          assert.strictEqual(
            statusAndError(yield* post(owner, "delayed", { url, delay_seconds: 60 })),
            "402 quota_exceeded"
          )
        })
    )

    it.effect("is notified once when a limit is used up", () =>
      Effect.gen(function* () {
        const owner = yield* signUp()
        yield* post(owner, "cron", cron)
        assert.isEmpty(yield* announced(owner, "quota.near"))
        yield* post(owner, "cron", cron)
        yield* post(owner, "cron", cron)
        assert.deepStrictEqual(
          (yield* announced(owner, "quota.near")).map(({ reason }) => reason),
          ["100% of the limit is used: 2 of 2."]
        )
      })
    )
  }
)

layer(testAppLayer())("a service whose plans were removed", (it) => {
  it.effect("resumes tasks that a plan has paused when it starts", () =>
    Effect.gen(function* () {
      const owner = yield* signUp()
      const { body: task } = yield* post(owner, "cron", cron)
      const { body: own } = yield* post(owner, "cron", cron)
      yield* post(owner, `cron/${own.id}/pause`)
      yield* pauseByPlan(task.id)
      assert.deepStrictEqual(yield* activeOf(owner), [])
      yield* startNode(testConfig)
      yield* pollUntil(activeOf(owner), (active) => active.length > 0)
      assert.deepStrictEqual(yield* activeOf(owner), [task.id])
    })
  )
})
