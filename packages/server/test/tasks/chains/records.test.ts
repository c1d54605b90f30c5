import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ask, createKey, statusAndError, signUp } from "../../support/http.ts"
import { unknownId } from "../../support/routes.ts"
import { testAppLayer } from "../../support/TestApp.ts"
import {
  alarmStep,
  storedStep,
  setUpChains,
  chainClientOf,
  closeStep,
  loginStep
} from "./chains.ts"

layer(testAppLayer())("chains", (it) => {
  it.effect("are stored with defaults for omitted fields", () =>
    Effect.gen(function* () {
      const { chains, member } = yield* setUpChains
      const created = yield* chains.create({ name: "  Close the day " })
      assert.strictEqual(created.status, 201)
      const { id, ...rest } = created.body
      assert.deepStrictEqual(rest, {
        workspace_id: member.workspace_id,
        key: null,
        version: 1,
        name: "Close the day",
        tags: [],
        depends_on: [],
        steps: [loginStep, closeStep, alarmStep].map(storedStep),
        schedule: null,
        queue_id: null,
        queue_key: null,
        flow: null,
        priority: 0,
        timezone: "UTC",
        starts_at: null,
        ends_at: null,
        excluded_days: [],
        excluded_calendar: null,
        jitter_seconds: 0,
        precision: "minute",
        overlap: "skip",
        missed: "once",
        every: null,
        anchor: null,
        dst_overlap: "first",
        on_pause: "cancel",
        on_success: null,
        on_failure: null,
        pause_after_failures: null,
        status: "active",
        paused: false,
        paused_reason: null,
        next_run_at: null,
        last_run: null,
        created_by: created.body.created_by,
        updated_by: created.body.created_by,
        created_at: "2026-06-01T12:00:00.000Z",
        updated_at: "2026-06-01T12:00:00.000Z"
      })
      assert.deepStrictEqual((yield* chains.get(id)).body, created.body)
      assert.deepStrictEqual((yield* chains.list()).body, {
        data: [created.body],
        next_cursor: null,
        total: null
      })
    })
  )

  it.effect("keep every field that they are given", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const step = {
        name: "say-hello_2",
        url: "https://api.example.com/hello?at={{ steps.login.status }}",
        method: "PUT",
        headers: { "X-Token": "{{ steps.login.body.token }}" },
        body: '{"a":{{ steps.login.body["odd key"][0] }},"braces":"{{ \'{{\' }}","ü":"\u{1f600}"}',
        timeout_seconds: 900,
        retry_count: 10,
        run_on: { labels: ["office"] },
        worker_wait_seconds: 60,
        run_if: "always"
      }
      const given = {
        name: "All of it",
        steps: [loginStep, step].map(storedStep),
        schedule: "*/5 * * * *",
        timezone: "Europe/Zurich",
        priority: -100,
        overlap: "queue",
        missed: "skip",
        dst_overlap: "both"
      }
      const { body, status } = yield* chains.create(given)
      assert.strictEqual(status, 201)
      assert.deepStrictEqual(body, { ...body, ...given, status: "active" })
      assert.strictEqual(body.next_run_at, "2026-06-01T12:05:00.000Z")
      assert.deepStrictEqual((yield* chains.get(body.id)).body, body)
    })
  )

  it.effect("keep steps that wait, and a PUT of what a GET returns changes nothing", () =>
    Effect.gen(function* () {
      const { chains, key, member } = yield* setUpChains
      const { body: channel } = yield* ask("POST", `${member.workspace}/notifications/channels`, {
        token: member.access_token,
        body: {
          kind: "webhook",
          key: "deploys",
          name: "Deploys",
          config: { url: "https://example.com" }
        }
      })
      const given = [
        { name: "pause", kind: "wait", seconds: 60, until: null, run_if: "success" },
        storedStep(loginStep),
        {
          name: "release",
          kind: "approve",
          channel_ids: [channel.id],
          channel_keys: ["deploys"],
          message: "Release {{ input.version }}?",
          timeout_seconds: 60,
          approvers: [member.user_id],
          run_if: "success"
        },
        { name: "later", kind: "wait", seconds: null, until: "{{ input.at }}", run_if: "always" }
      ]
      const { body } = yield* chains.create({ key: "waits", steps: given })
      assert.deepStrictEqual(body.steps, given)
      const put = yield* ask("PUT", `${member.workspace}/chains/by-key/waits`, {
        token: key,
        body
      })
      assert.deepStrictEqual(put.body, body)
      const short = given.map(({ run_if: _, ...step }) => step)
      const { body: changed } = yield* chains.update(body.id, { steps: [...short, closeStep] })
      assert.deepStrictEqual(changed.steps.slice(0, 4), [
        given[0],
        given[1],
        given[2],
        { ...given[3], run_if: "success" }
      ])
      const approval = { name: "a", kind: "approve", timeout_seconds: 60 }
      const byKey = { ...approval, channel_keys: ["deploys"] }
      const { body: named } = yield* chains.create({ steps: [byKey] })
      assert.deepStrictEqual(named.steps[0].channel_ids, [channel.id])
      for (const step of [
        { ...approval, channel_keys: ["nothing"] },
        { ...approval, channel_ids: [unknownId], channel_keys: ["deploys"] }
      ]) {
        const { body: refused } = yield* chains.create({ steps: [step] })
        assert.deepStrictEqual(
          refused.detail.issues.map(({ path }: { readonly path: ReadonlyArray<unknown> }) => path),
          [["steps", 0, "channel_keys", 0]]
        )
      }
    })
  )

  it.effect("are rejected with all problems and their paths", () =>
    Effect.gen(function* () {
      const { chains } = yield* setUpChains
      const refused: ReadonlyArray<readonly [object, ReadonlyArray<string | number>]> = [
        [{ name: " " }, ["name"]],
        [{ steps: [] }, ["steps"]],
        [
          { steps: Array.from({ length: 51 }, (_, n) => ({ ...loginStep, name: `s${n}` })) },
          ["steps"]
        ],
        [{ steps: [loginStep, loginStep] }, ["steps", 1, "name"]],
        [{ steps: [closeStep] }, ["steps", 0, "url"]],
        [{ steps: [{ ...loginStep, run_if: "never" }] }, ["steps", 0, "run_if"]],
        [{ steps: [{ ...loginStep, retry_count: 11 }] }, ["steps", 0, "retry_count"]],
        [{ steps: [{ ...loginStep, kind: "sleep" }] }, ["steps", 0, "kind"]],
        [{ steps: [{ name: "a", kind: "wait", seconds: 0 }] }, ["steps", 0, "seconds"]],
        [{ steps: [{ name: "a", kind: "wait" }] }, ["steps", 0, "seconds"]],
        [{ steps: [{ ...loginStep, kind: "wait", seconds: 5 }] }, ["steps", 0, "url"]],
        [{ schedule: "61 * * * *" }, ["schedule"]],
        [{ timezone: "Europe/Atlantis" }, ["timezone"]],
        [{ status: "paused" }, ["status"]]
      ]
      const { body: chain } = yield* chains.create()
      for (const [input, path] of refused) {
        for (const answer of [yield* chains.create(input), yield* chains.update(chain.id, input)]) {
          assert.strictEqual(statusAndError(answer), "422 validation_failed", JSON.stringify(path))
          assert.deepStrictEqual(answer.body.detail.issues[0].path, path)
        }
      }
      assert.deepStrictEqual((yield* chains.get(chain.id)).body, chain)
    })
  )

  it.effect("are at most 10,000 in a workspace", () =>
    Effect.gen(function* () {
      const { chains, member } = yield* setUpChains
      const sql = yield* SqlClient.SqlClient
      yield* chains.create()
      yield* sql`
        INSERT INTO tasks (id, workspace_id, kind, name, status, version_id, created_at, updated_at)
        SELECT gen_random_uuid(), workspace_id, kind, name, status, version_id, created_at, updated_at
        FROM tasks
        CROSS JOIN generate_series(2, 10000)
        WHERE workspace_id = ${member.workspace_id}`
      const refused = yield* chains.create()
      assert.strictEqual(statusAndError(refused), "402 quota_exceeded")
      assert.deepStrictEqual(
        [refused.body.detail.quota, refused.body.detail.limit],
        ["chains", 10_000]
      )
    })
  )

  it.effect("have no runs for another workspace, nor for another kind of task", () =>
    Effect.gen(function* () {
      const { chains, member } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const { body: run } = yield* chains.act(chain.id, "run")
      const { body: cron } = yield* ask("POST", `${member.workspace}/cron`, {
        token: member.access_token,
        body: { name: "No chain", url: loginStep.url, schedule: "0 3 * * *" }
      })
      const stranger = chainClientOf(yield* signUp())
      for (const answer of [
        yield* stranger.getRun(chain.id, run.id),
        yield* chains.getRun(cron.id, run.id),
        yield* chains.getRun(unknownId, run.id)
      ]) {
        assert.strictEqual(statusAndError(answer), "404 not_found")
        assert.strictEqual(answer.body.detail.resource, "chain")
      }
    })
  )

  it.effect("are read and changed with the scopes for it, and their runs with another", () =>
    Effect.gen(function* () {
      const { chains, member } = yield* setUpChains
      const { body: chain } = yield* chains.create()
      const { body: run } = yield* chains.act(chain.id, "run")
      const with_ = Effect.fnUntraced(function* (scope: string) {
        const { key } = yield* createKey(member, { scopes: [scope] })
        const of = chainClientOf({ ...member, access_token: key })
        const answers = [
          yield* of.list(),
          yield* of.get(chain.id),
          yield* of.runs(chain.id),
          yield* of.getRun(chain.id, run.id),
          yield* of.update(chain.id, {}),
          yield* of.act(chain.id, "pause"),
          yield* of.act(chain.id, "resume")
        ]
        return answers.map(({ status }) => status)
      })
      assert.deepStrictEqual(yield* with_("tasks:read"), [200, 200, 403, 403, 403, 403, 403])
      assert.deepStrictEqual(yield* with_("executions:read"), [403, 403, 200, 200, 403, 403, 403])
      assert.deepStrictEqual(yield* with_("tasks:write"), [403, 403, 403, 403, 200, 200, 200])
      const none = yield* ask("GET", `${member.workspace}/chains`)
      assert.strictEqual(statusAndError(none), "401 missing_credentials")
    })
  )
})
