// @tags slow
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { startHttpReceiver } from "../../notifications/support/receivers.ts"
import { eventsIn } from "../../notifications/support/events.ts"
import { startTarget } from "../completions/jobs.ts"
import { setUpChainRuns } from "./setUpChainRuns.ts"
import { ask, statusAndError } from "../../support/http.ts"
import { eventually } from "../../support/ServerProcess.ts"
import { runningConfig, runningNodeLayer, TestApp } from "../../support/TestApp.ts"

const publicUrl = "https://scheduling.test"

const approve = { name: "release", kind: "approve", timeout_seconds: 3_600 }

/** Creates a webhook channel, and a chain whose second step uses the decision. */
const beginWithChannel = Effect.gen(function* () {
  const chains = yield* setUpChainRuns
  const hook = yield* startHttpReceiver()
  const { bodies, url } = yield* startTarget(() => ({ status: 200 }))
  const channel = yield* chains.request("POST", "/notifications/channels", {
    name: "Releases",
    kind: "webhook",
    config: { url: hook.url }
  })
  assert.strictEqual(channel.status, 201, channel.text)
  const create = (fields: object = {}) =>
    chains.create([
      { ...approve, ...fields },
      {
        name: "deploy",
        url,
        body: "{{ steps.release.body }}",
        headers: { "content-type": "text/plain" }
      },
      { name: "undo", url, run_if: "failure", body: "undo" }
    ])
  /** Waits for the message that requests approval, and returns its event. */
  const message = eventually("a message about an approval", async () => {
    const events = hook.received.flatMap(({ body }) => eventsIn(body))
    return events.find(({ type }) => type === "approval.requested")
  })
  return { ...chains, bodies, channel: channel.body, create, message }
})

const linkIn = ({ data }: { readonly data: unknown }): string => {
  const facts: ReadonlyArray<{ readonly name: string; readonly value: string }> =
    Object(data).notice.facts
  return facts.find(({ name }) => name === "Approve or reject")?.value ?? ""
}

const decideBy = (link: string, decision: string) =>
  Effect.flatMap(TestApp, ({ url }) =>
    Effect.promise(async () => {
      const response = await fetch(link.replace(publicUrl, url), {
        method: "POST",
        body: new URLSearchParams({ decision })
      })
      return { status: response.status, text: await response.text() }
    })
  )

layer(runningNodeLayer({ ...runningConfig, publicUrl }), { excludeTestServices: true })(
  "a step that waits for approval",
  (it) => {
    it.effect(
      "is approved by the button behind the link in its message, and not by opening it",
      () =>
        Effect.gen(function* () {
          const { bodies, channel, create, execution, message, request, run } =
            yield* beginWithChannel
          const chain = yield* create({
            channel_ids: [channel.id],
            message: "Release {{ input.version }} <b>?"
          })
          const started = yield* run(chain, { version: "1.4" })
          const { approval, id } = yield* started.awaiting(0)
          assert.deepInclude(approval, { message: "Release 1.4 <b>?", approvers: [] })
          assert.deepInclude(yield* execution(id), {
            status: "running",
            awaiting_completion_since: null,
            approval
          })
          const event = yield* message
          assert.deepInclude(Object(event.data).approval, approval)
          const link = linkIn(event)
          assert.isTrue(link.startsWith(`${publicUrl}/notifications/approve/${id}.${channel.id}.`))
          const path = link.slice(publicUrl.length)
          for (const method of ["GET", "HEAD", "GET"]) {
            const page = yield* ask(method, path)
            assert.strictEqual(page.status, 200)
            if (method === "GET")
              assert.include(page.text, "Release 1.4 &#60;b&#62;? Approve or reject?")
          }
          assert.strictEqual((yield* decideBy(link, "later")).status, 400)
          assert.deepInclude(yield* execution(id), { status: "running" })

          assert.include((yield* decideBy(link, "approve")).text, "The step was approved.")
          const ended = yield* started.ended
          assert.strictEqual(ended.status, "succeeded")
          const decision = JSON.parse(bodies[0] ?? "")
          assert.deepInclude(decision, {
            approved: true,
            by: { kind: "channel", id: channel.id, name: "Releases" },
            note: null
          })
          assert.closeTo(Date.parse(decision.at), Date.now(), 60_000)

          assert.include((yield* decideBy(link, "reject")).text, "no longer waiting")
          assert.notInclude((yield* ask("GET", path)).text, "<button")
          const { body: audit } = yield* request("GET", "/audit?action=execution.approved")
          assert.containSubset(audit.data, [
            {
              subject_id: id,
              actor: { kind: "channel", name: "Releases" },
              details: { name: "release" }
            }
          ])
        })
    )

    it.effect("is rejected by a member with a note, and then its failure steps run", () =>
      Effect.gen(function* () {
        const { bodies, create, execution, member, request, run } = yield* beginWithChannel
        const started = yield* run(yield* create())
        const { id } = yield* started.awaiting(0)
        const rejected = yield* request("POST", `/executions/${id}/reject`, { note: "Not\ntoday" })
        assert.strictEqual(rejected.status, 200, rejected.text)
        assert.deepInclude(rejected.body, {
          status: "failed",
          approval: null,
          error: { code: "approval_rejected", message: rejected.body.error.message }
        })
        assert.include(rejected.body.error.message, "rejected the step: Not today")
        assert.strictEqual((yield* started.ended).status, "failed")
        assert.deepStrictEqual(bodies, ["undo"])
        const { attempts } = yield* execution(id)
        assert.deepInclude(JSON.parse(attempts[0].response_body), {
          approved: false,
          note: "Not\ntoday"
        })
        for (const decision of ["approve", "reject"]) {
          const again = yield* request("POST", `/executions/${id}/${decision}`, {})
          assert.strictEqual(statusAndError(again), "409 conflict")
        }
        const { body: audit } = yield* request("GET", `/audit?subject_id=${id}`)
        assert.containSubset(audit.data, [
          { action: "execution.rejected", actor: { kind: "user", id: member.user_id } }
        ])
      })
    )

    it.effect("with approvers is decided by these only, and its message leads to the panel", () =>
      Effect.gen(function* () {
        const { channel, create, member, message, request, run } = yield* beginWithChannel
        const sql = yield* SqlClient.SqlClient
        const other = yield* setUpChainRuns
        yield* sql`
          INSERT INTO memberships (user_id, workspace_id, role, created_at)
          VALUES (${other.member.user_id}, ${member.workspace_id}, 'editor', now())`
        const chain = yield* create({
          approvers: [other.member.user_id],
          channel_ids: [channel.id]
        })
        const started = yield* run(chain)
        const { id } = yield* started.awaiting(0)
        const link = linkIn(yield* message)
        assert.strictEqual(link, `${publicUrl}/w/${member.workspace_id}/executions/${id}`)
        const refused = yield* request("POST", `/executions/${id}/approve`, {})
        assert.strictEqual(statusAndError(refused), "403 not_approver")
        const approved = yield* ask("POST", `${member.workspace}/executions/${id}/approve`, {
          token: other.member.access_token
        })
        assert.strictEqual(approved.status, 200, approved.text)
        assert.strictEqual((yield* started.ended).status, "succeeded")
      })
    )

    it.effect("fails when nobody decides in time, and can be cancelled", () =>
      Effect.gen(function* () {
        const { bodies, create, request, run } = yield* beginWithChannel
        const late = yield* run(yield* create({ timeout_seconds: 1 }))
        const { status, steps } = yield* late.ended
        assert.strictEqual(status, "failed")
        assert.deepStrictEqual(steps[0].execution.error, {
          code: "approval_timeout",
          message: "nobody approved or rejected the step in time"
        })
        assert.deepStrictEqual(bodies, ["undo"])

        const cancelled = yield* run(yield* create())
        const { id } = yield* cancelled.awaiting(0)
        assert.strictEqual((yield* request("POST", `/executions/${id}/cancel`)).status, 200)
        assert.strictEqual((yield* cancelled.ended).status, "cancelled")
        const after = yield* request("POST", `/executions/${id}/approve`)
        assert.strictEqual(statusAndError(after), "409 conflict")
      })
    )

    it.effect("names only channels and members of its workspace", () =>
      Effect.gen(function* () {
        const { channel, request } = yield* beginWithChannel
        const other = yield* setUpChainRuns
        const refused = (step: object) =>
          request("POST", "/chains", { name: "a", steps: [{ ...approve, ...step }] })
        for (const [step, path] of [
          [{ channel_ids: [channel.id, randomUUID()] }, ["steps", 0, "channel_ids", 1]],
          [{ approvers: [other.member.user_id] }, ["steps", 0, "approvers", 0]],
          [{ message: "{{ secrets.KEY }}" }, ["steps", 0, "message"]]
        ] as const) {
          const answer = yield* refused(step)
          assert.strictEqual(statusAndError(answer), "422 validation_failed")
          assert.deepStrictEqual(answer.body.detail.issues[0].path, path)
        }
      })
    )

    it.effect("has a link that is of no use for anything else", () =>
      Effect.gen(function* () {
        const { channel, create, execution, message, request, run } = yield* beginWithChannel
        const started = yield* run(yield* create({ channel_ids: [channel.id] }))
        const { id } = yield* started.awaiting(0)
        const link = linkIn(yield* message)
        const other = yield* beginWithChannel
        for (const wrong of [
          link.slice(0, -1),
          link.replace(id, randomUUID()),
          link.replace(channel.id, other.channel.id),
          link.replace("/approve/", "/acknowledge/")
        ]) {
          assert.strictEqual((yield* decideBy(wrong, "approve")).status, 404, wrong)
        }
        yield* request("PATCH", `/notifications/channels/${channel.id}`, { paused: true })
        assert.strictEqual((yield* decideBy(link, "approve")).status, 404)
        assert.deepInclude(yield* execution(id), { status: "running" })
      })
    )
  }
)
